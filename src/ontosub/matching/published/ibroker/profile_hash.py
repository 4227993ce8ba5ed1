"""profileHash: the triples of all profiles, hashed by the name of their class or property.

The first level has a key for each name; the second lists the profiles whose triples use it, with what the triple says.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from ontosub.matching.published.joins import in_joining_order, lone_vertices
from ontosub.model import GraphPattern
from ontosub.model.terms import NamedNode, PatternTerm, Variable


class Kind(Enum):
    """What a key at the first level stands for."""

    CLASS = "class"
    PROPERTY = "property"
    STATEMENT = "any property"
    """A triple whose property is a variable."""
    VERTEX = "any vertex"
    """A vertex that no triple mentions otherwise."""


class Key(NamedTuple):
    """A key at the first level: the name of a class or of a property, or no name for any of them."""

    kind: Kind
    name: NamedNode | None = None


STATEMENT = Key(Kind.STATEMENT)
VERTEX = Key(Kind.VERTEX)

ProfileId: TypeAlias = tuple[str, int]
"""A subscription's id, and which of its patterns it is."""

Place: TypeAlias = tuple[Key, int]
"""Where a profile's triple is: its key, and its number, because a profile may use a name more than once."""

ProfileTriple: TypeAlias = tuple[Key, tuple[PatternTerm, ...]]


@dataclass(frozen=True, slots=True)
class TripleInfo:
    """An entry at the second level, under `key`: one triple of the profile `id`.

    The paper's fields Value and Var are `terms`, one per column of the match table: a constant is a value.
    `next_to_match` is where the profile's next triple is.
    """

    id: ProfileId
    key: Key
    terms: tuple[PatternTerm, ...]
    next_to_match: Place | None
    is_first: bool
    has_typed_subject: bool


class ProfileHash:
    """The two-level hash table."""

    def __init__(self) -> None:
        self.entries: dict[Key, dict[tuple[ProfileId, int], TripleInfo]] = {}
        self.firsts: dict[ProfileId, TripleInfo] = {}
        self._untyped: Counter[Key] = Counter()

    def insert(self, id: ProfileId, pattern: GraphPattern) -> None:
        """Take in a profile (Figure 2, BuildingProfileHash)."""
        triples = triples_of(pattern)
        typed = {terms[0] for key, terms in triples if key.kind is Kind.CLASS}
        for number, (key, terms) in enumerate(triples):
            following = (triples[number + 1][0], number + 1) if number + 1 < len(triples) else None
            info = TripleInfo(id, key, terms, following, number == 0, terms[0] in typed)
            self.entries.setdefault(key, {})[id, number] = info
            if info.is_first:
                self.firsts[id] = info
            self._untyped[key] += not info.has_typed_subject

    def remove(self, id: ProfileId, pattern: GraphPattern) -> None:
        """Forget a profile that was taken in."""
        self.firsts.pop(id, None)  # one without triples has none
        for number, (key, _) in enumerate(triples_of(pattern)):
            self._untyped[key] -= not self.entries[key].pop((id, number)).has_typed_subject
            if not self.entries[key]:
                del self.entries[key], self._untyped[key]

    def next_to_match(self, info: TripleInfo) -> TripleInfo | None:
        """Return the entry of the profile's next triple."""
        if info.next_to_match is None:
            return None
        key, number = info.next_to_match
        return self.entries[key][info.id, number]

    def allows_pruning(self, key: Key) -> bool:
        """Say whether every triple under this key has a subject of which its profile asks a class."""
        return not self._untyped[key]


def triples_of(pattern: GraphPattern) -> list[ProfileTriple]:
    """Return the triples of a profile, in the order in which their match tables are joined."""
    triples = [*_class_triples(pattern), *_property_triples(pattern)]
    mentioned = {term for _, terms in triples for term in terms}
    triples += [(VERTEX, (term,)) for term in lone_vertices(pattern) if term not in mentioned]
    return [triples[position] for position in in_joining_order([terms for _, terms in triples])]


def _class_triples(pattern: GraphPattern) -> list[ProfileTriple]:
    asked = ((vertex.term, class_) for vertex in pattern.vertices for class_ in sorted(vertex.classes, key=str))
    return [(Key(Kind.CLASS, class_), (term,)) for term, class_ in asked]


def _property_triples(pattern: GraphPattern) -> list[ProfileTriple]:
    return [
        (STATEMENT, (arc.subject, arc.property, arc.object))
        if isinstance(arc.property, Variable)
        else (Key(Kind.PROPERTY, arc.property), (arc.subject, arc.object))
        for arc in dict.fromkeys(pattern.arcs)
    ]
