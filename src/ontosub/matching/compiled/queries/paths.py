"""Property paths over a graph in numbers; `ontosub.matching.paths` is the definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ontosub.matching.compiled.queries.arcs import Arcs, Pair
from ontosub.matching.compiled.queries.terms import UNBOUND
from ontosub.model.algebra import Alternative, Exclusion, Inverse, Path, Repetition, Sequence, Step
from ontosub.semantics.budget import Budget

_END_BYTES = 40
"""About what it takes to remember one end of a path."""


class Paths:
    """The paths of one graph. What a path reaches from a vertex is remembered."""

    def __init__(self, arcs: Arcs, budget: Budget) -> None:
        self._arcs = arcs
        self._budget = budget
        # By the identity of a path: one that is equal is only walked again.
        self._reached: dict[tuple[int, bool, int], set[int]] = {}
        self._excluded: dict[int, tuple[frozenset[int] | None, frozenset[int] | None]] = {}

    def pairs(self, path: Path, start: int, end: int) -> Iterator[Pair]:
        """Yield the pairs that a path joins, from and to the given vertices unless they are UNBOUND."""
        if isinstance(path, Exclusion):
            yield from self._excluding(path, start, end)
        elif start != UNBOUND:
            yield from ((start, other) for other in self._ends(path, start, False) if end in (UNBOUND, other))
        elif end != UNBOUND:
            yield from ((other, end) for other in self._ends(path, end, True))
        else:
            for vertex in self._arcs.ends:
                yield from ((vertex, other) for other in self._ends(path, vertex, False))

    def _excluding(self, path: Exclusion, start: int, end: int) -> Iterator[Pair]:
        if id(path) not in self._excluded:
            number = self._arcs.property_number
            sides = (path.forwards, path.backwards)
            forwards, backwards = (None if side is None else frozenset(map(number, side)) for side in sides)
            self._excluded[id(path)] = forwards, backwards
        forwards, backwards = self._excluded[id(path)]
        if forwards is not None:
            yield from self._between(start, end, forwards)
        if backwards is not None:
            yield from ((one, other) for other, one in self._between(end, start, backwards))

    def _between(self, subject: int, end: int, excluded: frozenset[int]) -> Iterator[Pair]:
        arcs = self._arcs
        if subject != UNBOUND:
            found: Iterable[tuple[int, int, int]] = ((subject, along, other) for along, other in arcs.out.of(subject))
        elif end != UNBOUND:
            found = ((other, along, end) for along, other in arcs.into.of(end))
        else:
            found = arcs.all()
        for start, along, other in found:
            self._budget.spend()
            if along not in excluded and end in (UNBOUND, other):
                yield start, other

    def _ends(self, path: Path, vertex: int, backwards: bool) -> set[int]:
        """Return, each once, the vertices that a path joins with this one, which is its end if walked backwards."""
        key = id(path), backwards, vertex
        found = self._reached.get(key)
        if found is None:
            found = self._walk(path, vertex, backwards)
            self._budget.hold(_END_BYTES * (1 + len(found)))
            self._reached[key] = found
        return found

    def _walk(self, path: Path, vertex: int, backwards: bool) -> set[int]:
        match path:
            case Step(property_):
                direction = self._arcs.into if backwards else self._arcs.out
                return set(direction.along_property(vertex, self._arcs.property_number(property_)))
            case Inverse(inner):
                return self._ends(inner, vertex, not backwards)
            case Alternative(choices):
                return {other for choice in choices for other in self._ends(choice, vertex, backwards)}
            case Sequence(steps):
                reached = {vertex}
                for step in reversed(steps) if backwards else steps:
                    reached = self._next(step, reached, backwards)
                return reached
            case Repetition():
                return self._repeated(path, vertex, backwards)
            case Exclusion():
                pairs = self._excluding(path, *((UNBOUND, vertex) if backwards else (vertex, UNBOUND)))
                return {one if backwards else other for one, other in pairs}

    def _next(self, path: Path, vertices: Iterable[int], backwards: bool) -> set[int]:
        found: set[int] = set()
        for vertex in vertices:
            ends = self._ends(path, vertex, backwards)
            self._budget.spend(1 + len(ends))
            found |= ends
        return found

    def _repeated(self, path: Repetition, vertex: int, backwards: bool) -> set[int]:
        reached = self._next(path.path, [vertex], backwards)
        if path.open:
            waiting = reached
            while waiting:
                waiting = self._next(path.path, waiting, backwards) - reached
                reached |= waiting
        if path.least == 0:
            reached.add(vertex)
        return reached
