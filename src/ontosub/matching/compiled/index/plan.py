"""Plans: a pattern as a canonical sequence of steps, so that equal beginnings of different patterns are one.

A step is a *move* along an arc and an *arrival* at a vertex: it binds a register, or checks something between bound
ones. Constants do not appear in steps: patterns that differ only in constants have the same steps, and are told apart
at the end by what the registers hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]

HOME, ANY, CHECK, FORWARD, BACKWARD, CHECK_ANY, FORWARD_ANY, BACKWARD_ANY = range(8)
"""The kinds of move. The last three follow an arc of any property, and bind it or compare it with what is bound."""

ALONE = 0
"""The property of an ANY move to a vertex without arcs. It cannot be a class that only types something."""

STEP_COLUMNS = 6
"""Of a step: kind of move, register that it starts from, property (of which `*_ANY` binds the register), register that
a check leads to; then the classes asked of the vertex (a number, -1 for none), and whether it is a constant."""

_BY_ANY = CHECK_ANY - CHECK
_ROOTS_TRIED = 8


@njit(cache=True, nogil=True)
def write_steps(
    classes: Array,
    constant: Array,
    arcs: Array,
    home: int,
    injective: int,
    steps: Array,
    registers: Array,
    property_registers: Array,
) -> int:
    """Write the canonical steps of a pattern, and the registers of its vertices and property variables.

    Vertices and property variables are known by position; `arcs` has rows (subject, property, object), where a property
    variable is -1 minus its position. Returns the number of steps.
    """
    vertices = classes.shape[0]
    registers[:] = -1
    property_registers[:] = -1
    taken = np.zeros(arcs.shape[0], np.bool_)
    count = 0
    if home >= 0:
        count = _go(HOME, home, classes, constant, arcs, injective, steps, count, registers, property_registers, taken)
    roots = np.empty(_ROOTS_TRIED, np.int64)
    while True:
        tried = _roots(classes, constant, arcs, registers, roots)
        if tried == 0:
            return count
        if tried == 1 or vertices == 1:
            count = _go(
                ANY, roots[0], classes, constant, arcs, injective, steps, count, registers, property_registers, taken
            )
            continue
        # Which of several like vertices comes first is decided by what follows from it.
        best_steps = np.empty((0, STEP_COLUMNS), np.int32)
        best = -1
        for candidate in range(tried):
            trial, trial_taken = steps.copy(), taken.copy()
            trial_registers, trial_properties = registers.copy(), property_registers.copy()
            end = _go(
                ANY, roots[candidate], classes, constant, arcs, injective, trial, count, trial_registers,
                trial_properties, trial_taken,
            )  # fmt: skip
            if best < 0 or _is_less(trial[count:end], best_steps):
                best, best_steps = candidate, trial[count:end].copy()
        count = _go(
            ANY, roots[best], classes, constant, arcs, injective, steps, count, registers, property_registers, taken
        )


@njit(cache=True, nogil=True)
def _roots(classes: Array, constant: Array, arcs: Array, registers: Array, roots: Array) -> int:
    """Fill `roots` with the vertices to go on from when no arc leads further, the most telling ones; return how many.

    Constants come before vertices with classes, these before others; then those with many arcs.
    """
    best, count = np.int64(-1), 0
    for vertex in range(classes.shape[0]):
        if registers[vertex] >= 0:
            continue
        degree = 0
        for arc in range(arcs.shape[0]):
            degree += (arcs[arc, 0] == vertex) + (arcs[arc, 2] == vertex)
        rank = (np.int64(constant[vertex] != 0) << 40) | (np.int64(classes[vertex] >= 0) << 39) | degree
        if rank > best:
            best, count = rank, 0
        if rank == best and count < roots.shape[0]:
            roots[count] = vertex
            count += 1
    return count


@njit(cache=True, nogil=True)
def _is_less(first: Array, second: Array) -> bool:
    for row in range(min(first.shape[0], second.shape[0])):
        for column in range(STEP_COLUMNS):
            if first[row, column] != second[row, column]:
                return first[row, column] < second[row, column]
    return first.shape[0] < second.shape[0]


@njit(cache=True, nogil=True)
def _go(
    kind: int,
    root: int,
    classes: Array,
    constant: Array,
    arcs: Array,
    injective: int,
    steps: Array,
    count: int,
    registers: Array,
    property_registers: Array,
    taken: Array,
) -> int:
    """Bind a root, then follow arcs as far as they lead, the most urgent first; return the number of steps then."""
    bound, properties = 0, 0
    for vertex in range(registers.shape[0]):
        bound += registers[vertex] >= 0
    for variable in range(property_registers.shape[0]):
        properties += property_registers[variable] >= 0
    alone = True
    for arc in range(arcs.shape[0]):
        alone = alone and arcs[arc, 0] != root and arcs[arc, 2] != root
    registers[root] = bound
    bound += 1
    # Injective patterns walk by other rules, so they part from the others at the very first step.
    steps[count, 0], steps[count, 1], steps[count, 2], steps[count, 3] = kind, -1, ALONE if alone else -1, injective
    steps[count, 4], steps[count, 5] = classes[root], constant[root]
    count += 1
    while True:
        best, best_urgency = -1, 9
        for arc in range(arcs.shape[0]):
            subject, object_ = registers[arcs[arc, 0]], registers[arcs[arc, 2]]
            if taken[arc] or (subject < 0 and object_ < 0):
                continue
            property_, by_any = arcs[arc, 1], 0
            if property_ < 0:
                known = property_registers[-1 - property_]
                # A property that is bound already is written as the complement of its register.
                property_, by_any = properties if known < 0 else ~known, _BY_ANY
            # Checks first, then what leads to constants, then breadth first.
            if subject >= 0 and object_ >= 0:
                urgency, move, source, target, asked, fixed = 0, CHECK + by_any, subject, object_, -1, 0
            elif subject >= 0:
                end = arcs[arc, 2]
                move, source, target, asked, fixed = FORWARD + by_any, subject, -1, classes[end], constant[end]
                urgency = 1 if fixed else 2
            else:
                end = arcs[arc, 0]
                move, source, target, asked, fixed = BACKWARD + by_any, object_, -1, classes[end], constant[end]
                urgency = 1 if fixed else 2
            if best >= 0 and not _comes_before(
                urgency, source, move, property_, target, asked, fixed, best_urgency, steps[count]
            ):
                continue
            best, best_urgency = arc, urgency
            steps[count, 0], steps[count, 1], steps[count, 2], steps[count, 3] = move, source, property_, target
            steps[count, 4], steps[count, 5] = asked, fixed
        if best < 0:
            return count
        taken[best] = True
        count += 1
        for end in (arcs[best, 0], arcs[best, 2]):
            if registers[end] < 0:
                registers[end] = bound
                bound += 1
        variable = -1 - arcs[best, 1]
        if variable >= 0 and property_registers[variable] < 0:
            property_registers[variable] = properties
            properties += 1


@njit(cache=True, nogil=True)
def _comes_before(
    urgency: int,
    source: int,
    move: int,
    property_: int,
    target: int,
    asked: int,
    fixed: int,
    best_urgency: int,
    best: Array,
) -> bool:
    if urgency != best_urgency:
        return urgency < best_urgency
    if source != best[1]:
        return source < best[1]
    if move != best[0]:
        return move < best[0]
    if property_ != best[2]:
        return property_ < best[2]
    if target != best[3]:
        return target < best[3]
    if asked != best[4]:
        return asked < best[4]
    return fixed < best[5]
