"""Drafting: patterns into the entries of a new segment.

Python only takes patterns apart into lists of numbers; the steps, the trie and the registers are made from these by
kernels, for all patterns at once.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import accumulate
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.atoms.atoms import Atoms
from ontosub.matching.compiled.events.concepts import Concepts
from ontosub.matching.compiled.events.dictionary import Dictionary
from ontosub.matching.compiled.index.building import assemble
from ontosub.matching.compiled.index.conditions import WAYS_MAX, Way, ways_of
from ontosub.matching.compiled.index.entries import Entries
from ontosub.matching.compiled.index.layout import (
    ALWAYS_ENTRY,
    EXTRA_COLUMNS,
    HAS_ATOM,
    NONE,
    NOT_TERM,
    NOT_VALUE,
    ONCE_ENTRY,
    OPEN_ENTRY,
    Segment,
)
from ontosub.matching.compiled.index.registers import bound_vertices, property_vertices
from ontosub.matching.compiled.index.steps import grow, growing, laid_out
from ontosub.matching.limits import SIZE_MAX
from ontosub.model import GraphPattern
from ontosub.model.pattern import is_constant
from ontosub.model.terms import TYPE, PatternTerm, Variable, written

Array = NDArray[Any]


class Draft:
    """Collects patterns and makes one segment of them. Plans are what the entries of a pattern are before that."""

    def __init__(self, concepts: Concepts, dictionary: Dictionary, atoms: Atoms) -> None:
        self._concepts = concepts
        self._dictionary = dictionary
        self._atoms = atoms
        self._patterns: list[int] = []
        self._flags: list[int] = []
        self._homes: list[int] = []
        self._injective: list[bool] = []
        # Per plan, how long its lists are; and the lists of all plans, one after the other.
        self._vertex_counts: list[int] = []
        self._sets: list[int] = []
        self._terms: list[str] = []
        self._constant: list[bool] = []
        self._arc_counts: list[int] = []
        self._arcs: list[int] = []
        self._variable_counts: list[int] = []
        # Of conditions: the plan, then what each kind of condition has. Vertices are given by position.
        self._dimensions: list[tuple[int, int, int]] = []
        self._boxes: list[tuple[float, float]] = []
        self._pairs: list[tuple[int, int, int, int]] = []
        self._plan_atoms: dict[int, tuple[int, int]] = {}
        self._extras: list[tuple[int, int, int, int]] = []
        self._extra_values: list[float] = []
        self._excluded: list[str] = []

    def __len__(self) -> int:
        return len(self._patterns)

    def add(self, number: int, pattern: GraphPattern, *, once: bool, always: bool = False) -> None:
        """Take in a pattern under a number; with `once`, nobody will ask for its mappings, with `always`, everybody."""
        position: dict[PatternTerm, int] = {}
        sets: list[int] = []
        terms: list[str | None] = []
        for vertex in bound_vertices(pattern):
            term = vertex.term
            position[term] = len(position)
            sets.append(self._concepts.number_of_set(vertex.classes) if vertex.classes else NONE)
            terms.append(written(term) if is_constant(term) else None)
        arcs, variables = self._numbered(pattern, position)
        flags = ONCE_ENTRY if once else ALWAYS_ENTRY if always else 0
        if variables and _is_open(pattern, variables, position):
            flags |= OPEN_ENTRY
        ways = _NO_CONDITIONS
        if pattern.filters:
            vertices = frozenset(term for term in position if isinstance(term, Variable))
            most = min(WAYS_MAX, max(1, SIZE_MAX // max(1, len(sets) + len(pattern.arcs))))
            ways = ways_of(pattern.filters, vertices, self._atoms.number, most)
        for way in ways:
            plan = len(self._patterns)
            self._patterns.append(number)
            self._flags.append(flags | OPEN_ENTRY if way.left else flags)
            self._homes.append(NONE if pattern.home is None else position[pattern.home])
            self._injective.append(pattern.injective)
            fixed = [
                written(way.pins[term]) if term in way.pins else own for term, own in zip(position, terms, strict=True)
            ]
            self._vertex_counts.append(len(sets))
            self._sets += sets
            self._constant += [each is not None for each in fixed]
            self._terms += [each for each in fixed if each is not None]
            self._arc_counts.append(len(pattern.arcs))
            self._arcs += arcs
            self._variable_counts.append(len(variables))
            if way is not _PLAIN:
                self._add_conditions(plan, way, position)

    def _numbered(
        self, pattern: GraphPattern, position: dict[PatternTerm, int]
    ) -> tuple[list[int], dict[Variable, int]]:
        """Return the arcs in numbers, and the positions of the property variables."""
        arcs: list[int] = []
        variables: dict[Variable, int] = {}
        for arc in pattern.arcs:
            property_ = arc.property
            if isinstance(property_, Variable):
                number = -1 - variables.setdefault(property_, len(variables))
                self._concepts.keep(types=True, unknown=True)
            else:
                number = self._concepts.property_number(property_)
                if property_ == TYPE:
                    self._concepts.keep(types=True)
            arcs += (position[arc.subject], number, position[arc.object])
        return arcs, variables

    def _add_conditions(self, plan: int, way: Way, position: dict[PatternTerm, int]) -> None:
        for (variable, kind), box in way.boxes.items():
            self._dimensions.append((plan, position[variable], kind))
            self._boxes.append(box)
        self._pairs += ((plan, code, position[first], position[second]) for code, first, second in way.pairs)
        for variable, atom in way.atoms:
            if plan in self._plan_atoms:
                self._extra(plan, HAS_ATOM, position[variable], atom)
            else:
                self._plan_atoms[plan] = position[variable], atom
        for variable, term in way.excluded:
            self._extra(plan, NOT_TERM, position[variable], len(self._excluded))
            self._excluded.append(str(term))
        for variable, kind, value in way.excluded_values:
            self._extra(plan, NOT_VALUE, position[variable], kind, value)

    def _extra(self, plan: int, about: int, position: int, what: int, value: float = 0.0) -> None:
        self._extras.append((plan, about, position, what))
        self._extra_values.append(value)

    def segment(self) -> Segment:
        """Return the segment of all patterns taken in."""
        vertex_from, arc_from = _starts(self._vertex_counts), _starts(self._arc_counts)
        register_from = vertex_from + _starts(self._variable_counts)
        trie = growing(int(vertex_from[-1] + arc_from[-1]))
        registers = np.empty(register_from[-1], np.int32)
        leaves = np.empty(len(self), np.int32)
        constant = np.array(self._constant, np.int32)
        grow(
            trie,
            vertex_from,
            np.array(self._sets, np.int32),
            constant,
            arc_from,
            np.array(self._arcs, np.int32).reshape(-1, 3),
            np.array(self._homes, np.int32),
            np.array(self._injective, np.int32),
            register_from,
            registers,
            leaves,
        )
        class_sets = self._concepts.class_sets()
        laid, number = laid_out(trie, *class_sets)
        terms = np.full(len(constant), NONE, np.int32)
        terms[constant != 0] = self._dictionary.number(self._terms)
        constant_from, constants = _in_order(vertex_from, register_from, registers, constant, terms)
        entries = Entries(
            leaf=number[leaves],
            pattern=np.array(self._patterns, np.int32),
            flags=np.array(self._flags, np.int32),
            constant_from=constant_from,
            constants=constants,
            register_from=register_from,
            registers=registers,
            **self._conditions(register_from, registers),
        )
        return assemble(laid, *class_sets, entries)

    def _conditions(self, register_from: Array, registers: Array) -> dict[str, Array]:
        """Return the conditions of all plans, with registers in place of positions."""

        def register(plans: Array, positions: Array) -> Array:
            return registers[register_from[plans] + positions]

        dimensions = np.array(self._dimensions, np.int32).reshape(-1, 3)
        dimensions[:, 1] = register(dimensions[:, 0], dimensions[:, 1])
        order = np.lexsort((dimensions[:, 2], dimensions[:, 1], dimensions[:, 0]))
        pairs = np.array(self._pairs, np.int32).reshape(-1, 4)
        pairs[:, 2] = register(pairs[:, 0], pairs[:, 2])
        pairs[:, 3] = register(pairs[:, 0], pairs[:, 3])
        pairs = pairs[np.lexsort((pairs[:, 3], pairs[:, 2], pairs[:, 1], pairs[:, 0]))]
        extras = np.array(self._extras, np.int32).reshape(-1, 1 + EXTRA_COLUMNS)
        extras[:, 2] = register(extras[:, 0], extras[:, 2])
        excluded = extras[:, 1] == NOT_TERM
        extras[excluded, 3] = self._dictionary.number(self._excluded)[extras[excluded, 3]]
        extra_order = np.argsort(extras[:, 0], kind="stable")
        extras = extras[extra_order]
        atom_register, atom = np.full(len(self), NONE, np.int32), np.full(len(self), NONE, np.int32)
        if self._plan_atoms:
            plans = np.array(list(self._plan_atoms), np.int64)
            found = np.array(list(self._plan_atoms.values()), np.int32)
            atom_register[plans], atom[plans] = register(plans, found[:, 0]), found[:, 1]
        return {
            "atom_register": atom_register,
            "atom": atom,
            "dimension_from": self._from(dimensions[:, 0]),
            "dimensions": dimensions[order, 1:],
            "boxes": np.array(self._boxes, np.float64).reshape(-1, 2)[order],
            "pair_from": self._from(pairs[:, 0]),
            "pairs": pairs[:, 1:].copy(),
            "extra_from": self._from(extras[:, 0]),
            "extras": extras[:, 1:].copy(),
            "extra_values": np.array(self._extra_values, np.float64)[extra_order],
        }

    def _from(self, plans: Array) -> Array:
        """Return where the list of each plan starts, given the plans of all list members."""
        return _starts(np.bincount(plans, minlength=len(self)).tolist())


_PLAIN = Way()
_NO_CONDITIONS = [_PLAIN]


def _is_open(pattern: GraphPattern, variables: Container[Variable], position: Iterable[PatternTerm]) -> bool:
    """Say whether a property variable is left to Python: it has two registers, or one that a vertex should have."""
    asked = any(vertex.classes or pattern.injective for vertex in property_vertices(pattern))
    return asked or any(term in variables for term in position)


def _starts(lengths: list[int]) -> Array:
    return np.fromiter(accumulate(lengths, initial=0), np.int64, len(lengths) + 1)


@njit(cache=True, nogil=True)
def _in_order(
    vertex_from: Array, register_from: Array, registers: Array, constant: Array, terms: Array
) -> tuple[Array, Array]:
    """Return the constants of each plan in the order of their registers, and where they start."""
    plans = vertex_from.shape[0] - 1
    starts = np.zeros(plans + 1, np.int64)
    found = np.empty(constant.sum(), np.int32)
    count = 0
    for plan in range(plans):
        vertices = vertex_from[plan + 1] - vertex_from[plan]
        by_register = np.full(vertices, NONE, np.int32)
        for position in range(vertices):
            if constant[vertex_from[plan] + position]:
                by_register[registers[register_from[plan] + position]] = terms[vertex_from[plan] + position]
        for term in by_register:
            if term != NONE:
                found[count] = term
                count += 1
        starts[plan + 1] = count
    return starts, found
