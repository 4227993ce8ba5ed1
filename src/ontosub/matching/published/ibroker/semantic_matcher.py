"""The Semantic Matcher: what each event of a document's stream does to the match tables (Figures 3 and 4).

The stream is start, then for each individual its class events and its property events; at the end, each profile's
result is generated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ontosub.matching.definition import Mu
from ontosub.matching.published.concepts import Concepts
from ontosub.matching.published.ibroker.profile_hash import (
    STATEMENT,
    VERTEX,
    Key,
    Kind,
    ProfileHash,
    ProfileId,
    TripleInfo,
)
from ontosub.matching.published.joins import NOTHING_MAPPED, Row, join
from ontosub.model import Ontology
from ontosub.model.terms import TYPE, BlankNode, Literal, NamedNode, Term
from ontosub.semantics.budget import Budget


@dataclass(slots=True)
class IBrokerStats:
    """What was done for all events so far."""

    events: int = 0
    class_events: int = 0
    property_events: int = 0
    pruned_property_events: int = 0
    tables: int = 0
    rows: int = 0
    joins: int = 0


class SemanticMatcher:
    """Collects a document's individuals in one match table per class and property of profileHash.

    `matchResult`, whether a class of the current individual is in profileHash, is kept over all of its class events.
    (In Figure 3 the latest one overwrites it; an individual with two classes would lose its properties by the second.)
    """

    def __init__(self, profiles: ProfileHash, concepts: Concepts, ontology: Ontology, stats: IBrokerStats) -> None:
        self._profiles = profiles
        self._concepts = concepts
        self._ontology = ontology
        self._stats = stats
        self._inverses: dict[NamedNode, list[NamedNode]] = {}
        # What an inverse of rdf:type would say of types is left to E, which knows the types that are never concluded.
        for one, other in (pair for pair in ontology.inverses if TYPE not in pair):
            self._inverses.setdefault(one, []).append(other)
            self._inverses.setdefault(other, []).append(one)
        self._tables: dict[Key, set[Row]] = {}
        self._individual: Term | None = None
        self._match_result = False

    def start(self) -> None:
        """Create an empty match table for each key of profileHash."""
        self._tables = {key: set() for key in self._profiles.entries}
        self._individual, self._match_result = None, False
        self._stats.events += 1
        self._stats.tables += len(self._tables)

    def vertex(self, individual: Term) -> None:
        """Note an individual that is a vertex, whatever it is. Not in the paper; lone vertices of a profile need it."""
        self._add(VERTEX, (individual,))

    def class_(self, name: NamedNode, individual: Term) -> None:
        """Put the individual into the tables of the class and of its ancestors."""
        self._stats.class_events += 1
        if individual != self._individual:
            self._individual, self._match_result = individual, False
        for ancestor in self._concepts.class_ancestors(name, of_literal=isinstance(individual, Literal)):
            self._match_result |= self._add(Key(Kind.CLASS, ancestor), (individual,))

    def property(self, name: NamedNode, domain: Term, range_: Term) -> None:
        """Put the pair into the tables of the property and of its ancestors, as the type of each one demands.

        When no class of the domain individual matched, tables are left alone whose pairs could not be joined anyway.
        """
        self._stats.property_events += 1
        unmatched = domain == self._individual and not self._match_result
        matched = False
        for ancestor, end in self._statements(name, range_):
            key = Key(Kind.PROPERTY, ancestor)
            if key in self._tables and not (unmatched and self._profiles.allows_pruning(key)):
                self._add_pair(ancestor, domain, end)
                matched = True
            if not (unmatched and self._profiles.allows_pruning(STATEMENT)):
                matched |= self._add(STATEMENT, (domain, ancestor, end))
        self._stats.pruned_property_events += unmatched and not matched

    def _statements(self, name: NamedNode, range_: Term) -> Iterator[tuple[NamedNode, Term]]:
        """Yield the property and the range individual of each statement that the hierarchies make of one."""
        if name == TYPE and isinstance(range_, NamedNode):
            yield from ((TYPE, ancestor) for ancestor in self._concepts.type_ancestors(range_))
        else:
            yield from ((ancestor, range_) for ancestor in self._concepts.property_ancestors(name))

    def generate_result(self, id: ProfileId, budget: Budget) -> list[Mu]:
        """Join the match tables of a profile (Figure 4). Raises LimitError when that takes more than the budget."""
        # The figure starts at every class; a profile's first triple serves profiles without a class as well.
        info: TripleInfo | None = self._profiles.firsts.get(id)
        result = NOTHING_MAPPED
        while info is not None and result:
            self._stats.joins += not info.is_first
            result = join(result, info.terms, self._tables[info.key], budget)
            info = self._profiles.next_to_match(info)
        return result

    def _add_pair(self, property_: NamedNode, domain: Term, range_: Term) -> None:
        """Add a pair to a property's table, and what the property's type makes of it (lines 26 to 36)."""
        self._add_closed(property_, (domain, range_))
        if not isinstance(range_, NamedNode | BlankNode) or property_ == TYPE:
            return
        for inverse in self._inverses.get(property_, ()):
            self._add_closed(inverse, (range_, domain))
        if property_ in self._ontology.symmetric:
            self._add_closed(property_, (range_, domain))

    def _add_closed(self, property_: NamedNode, pair: Row) -> None:
        """Add a pair to a property's table, and keep the table of a transitive property transitive."""
        key = Key(Kind.PROPERTY, property_)
        table = self._tables.get(key, set())
        waiting = [pair]
        while waiting:
            domain, range_ = new = waiting.pop()
            if new not in table and self._add(key, new) and property_ in self._ontology.transitive:
                waiting += [(domain, end) for start, end in table if start == range_]
                waiting += [(start, range_) for start, end in table if end == domain]

    def _add(self, key: Key, row: Row) -> bool:
        """Put a row into a table; return whether there is such a table."""
        table = self._tables.get(key)
        if table is None:
            return False
        if row not in table:
            table.add(row)
            self._stats.rows += 1
        return True
