"""Property paths as automata over a graph in numbers; `ontosub.matching.paths` is the definition.

A path joins a vertex with every vertex at which its automaton can end after it started there: each pair once, however
many ways there are. The one path that gives a pair once for each way, a negated property set that is not repeated, is
looked up arc by arc.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.events.concepts import Concepts
from ontosub.matching.compiled.queries.joins import first_not_below
from ontosub.model.algebra import Alternative, Exclusion, Inverse, Path, Repetition, Sequence, Step
from ontosub.model.terms import NamedNode

Array = NDArray[Any]

STAY, OUT, IN, OUT_EXCEPT, IN_EXCEPT = range(5)
"""How an automaton moves: without an arc; along an arc or against one with a property, or with any but some."""

FROM, TO, MOVE, ALONG, EXCEPT_TO = range(5)
"""Columns of a transition: its states, how it moves, and its property, or which excluded ones it has."""

START, FINAL = 0, 1


class Automaton(NamedTuple):
    """A path in numbers: transitions by their first state, where those of each state start, excluded properties.

    Several automata may follow each other in it; `first` tells where the states of each one are among all starts.
    """

    transitions: Array
    starts: Array
    excluded: Array
    first: Array

    @property
    def states(self) -> int:
        """How many states the largest one has."""
        return int(np.diff(self.first, append=len(self.starts)).max()) - 1

    @classmethod
    def of(cls, automata: Iterable[Automaton]) -> Automaton:
        """Return several automata as one."""
        known = list(automata)
        transitions = np.concatenate([each.transitions for each in known])
        counts, states, properties = (np.array([len(each[column]) for each in known], np.int32) for column in range(3))
        starts = np.concatenate([each.starts for each in known]) + np.repeat(np.cumsum(counts) - counts, states)
        excepting = np.flatnonzero(transitions[:, MOVE] >= OUT_EXCEPT)
        before = np.repeat(np.cumsum(properties) - properties, counts)
        transitions[excepting, ALONG:] += before[excepting, None]
        excluded = np.concatenate([each.excluded for each in known])
        return cls(transitions, starts.astype(np.int32), excluded, (np.cumsum(states) - states).astype(np.int32))


class Walk:
    """A path that is walked, with its automata once they were needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.is_exclusion = isinstance(path, Exclusion)
        """Whether it joins two vertices once for each way between them."""
        self._automata: dict[bool, Automaton] = {}

    def automaton(self, concepts: Concepts, *, backwards: bool) -> Automaton:
        """Return the automaton that walks the path."""
        known = self._automata.get(backwards)
        if known is None:
            known = self._automata[backwards] = _automaton(self._path, concepts, backwards)
        return known


def _automaton(path: Path, concepts: Concepts, backwards: bool) -> Automaton:
    """Return the automaton of a path; `backwards`, it starts at the path's end."""
    building = _Building(concepts)
    building.add(path, START, FINAL, backwards)
    transitions = np.array(sorted(building.transitions), np.int32).reshape(-1, 5)
    starts = np.searchsorted(transitions[:, FROM], np.arange(building.states + 1)).astype(np.int32)
    excluded = np.array(building.excluded, np.int32)
    return Automaton(transitions, starts, excluded, np.zeros(1, np.int32))


class _Building:
    def __init__(self, concepts: Concepts) -> None:
        self._concepts = concepts
        self.states = 2
        self.transitions: list[tuple[int, int, int, int, int]] = []
        self.excluded: list[int] = []

    def _state(self) -> int:
        self.states += 1
        return self.states - 1

    def add(self, path: Path, start: int, end: int, backwards: bool) -> None:
        """Add what leads from one state to another along a path."""
        match path:
            case Step(property_):
                move = IN if backwards else OUT
                self.transitions.append((start, end, move, self._concepts.property_number(property_), 0))
            case Inverse(inner):
                self.add(inner, start, end, not backwards)
            case Alternative(choices):
                for choice in choices:
                    self.add(choice, start, end, backwards)
            case Sequence(steps):
                ordered = steps[::-1] if backwards else steps
                for step in ordered[:-1]:
                    middle = self._state()
                    self.add(step, start, middle, backwards)
                    start = middle
                self.add(ordered[-1], start, end, backwards)
            case Repetition():
                self._repeat(path, start, end, backwards)
            case Exclusion(forwards, backwards_excluded):
                for excluded, move, turned in (
                    (forwards, OUT_EXCEPT, IN_EXCEPT),
                    (backwards_excluded, IN_EXCEPT, OUT_EXCEPT),
                ):
                    if excluded is not None:
                        self._exclude(excluded, start, end, turned if backwards else move)

    def _repeat(self, path: Repetition, start: int, end: int, backwards: bool) -> None:
        # States of its own, so that what is repeated mixes with nothing around it.
        before, after = self._state(), self._state()
        self._stay(start, before)
        self.add(path.path, before, after, backwards)
        self._stay(after, end)
        if path.open:
            self._stay(after, before)
        if path.least == 0:
            self._stay(start, end)

    def _stay(self, start: int, end: int) -> None:
        self.transitions.append((start, end, STAY, 0, 0))

    def _exclude(self, properties: Iterable[NamedNode], start: int, end: int, move: int) -> None:
        first = len(self.excluded)
        self.excluded += sorted(map(self._concepts.property_number, properties))
        self.transitions.append((start, end, move, first, len(self.excluded)))


@njit(cache=True)
def reached(  # type: ignore[no-untyped-def]
    vertices, which, transitions, starts, excluded, firsts, states, once, out_from, out_arcs, in_from, in_arcs, limit
):
    """Return, for each of some vertices, where its automaton ends that starts there: places of the former, and ends.

    And how many steps that took; beyond the limit, nothing else. `which` tells the automaton of each vertex, `states`
    how many states the largest one has. Without `once`, ends are given for each way.
    """
    known = out_from.shape[0] - 1
    # A pair of a state and a vertex was met on behalf of the vertex whose place, plus one, is noted. A vertex that the
    # graph does not have is met behind all others.
    met = np.zeros((states, known + 1), np.int32)
    waiting = np.empty((64, 2), np.int32)
    found = np.empty((64, 2), np.int32)
    count, steps = 0, 0
    for place in range(vertices.shape[0]):
        first, own = vertices[place], firsts[which[place]]
        waiting[0, 0], waiting[0, 1] = START, min(first, known)
        met[START, min(first, known)] = place + 1
        left = 1
        while left:
            left -= 1
            state, vertex = waiting[left, 0], waiting[left, 1]
            if state == FINAL:
                if count == found.shape[0]:
                    found = _doubled(found)
                found[count, 0], found[count, 1] = place, first if vertex == known else vertex
                count += 1
            for transition in range(starts[own + state], starts[own + state + 1]):
                move, target = transitions[transition, MOVE], transitions[transition, TO]
                steps += 1
                if move == STAY:
                    arcs, low, high = out_arcs, 0, 1
                elif vertex == known:
                    continue
                elif move == OUT or move == OUT_EXCEPT:
                    arcs, low, high = out_arcs, out_from[vertex], out_from[vertex + 1]
                else:
                    arcs, low, high = in_arcs, in_from[vertex], in_from[vertex + 1]
                along = transitions[transition, ALONG]
                if move == OUT or move == IN:
                    low = first_not_below(arcs, 0, low, high, along)
                    high = first_not_below(arcs, 0, low, high, along + 1)
                for arc in range(low, high):
                    steps += 1
                    if steps > limit:
                        return found[:0], steps
                    end = vertex if move == STAY else arcs[arc, 1]
                    if move >= OUT_EXCEPT and _is_among(
                        arcs[arc, 0], excluded, along, transitions[transition, EXCEPT_TO]
                    ):
                        continue
                    if once:
                        if met[target, end] == place + 1:
                            continue
                        met[target, end] = place + 1
                    if left == waiting.shape[0]:
                        waiting = _doubled(waiting)
                    waiting[left, 0], waiting[left, 1] = target, end
                    left += 1
    return found[:count], steps


@njit(cache=True)
def _is_among(value, values, low, high):  # type: ignore[no-untyped-def]
    for place in range(low, high):
        if values[place] == value:
            return True
    return False


@njit(cache=True)
def _doubled(table):  # type: ignore[no-untyped-def]
    larger = np.empty((2 * table.shape[0], table.shape[1]), np.int32)
    larger[: table.shape[0]] = table
    return larger
