"""G-ToPSS, after Petrovic, Liu and Jacobsen, "G-ToPSS: Fast Filtering of Graph-based Metadata" (WWW 2005).

The baseline that the iBroker paper describes. The edges of all subscriptions are hashed by their pair of subject and
object, with a wildcard for a variable; each statement of a publication looks at up to four entries. Matched edges are
joined, and a class taxonomy is asked about each individual of the joined result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ontosub.matching.algorithm import Algorithm
from ontosub.matching.definition import Mu, image_of
from ontosub.matching.published.concepts import Concepts, Given
from ontosub.matching.published.joins import NOTHING_MAPPED, Row, confirmed, in_joining_order, join, lone_vertices
from ontosub.matching.published.outcome import Outcome, decided
from ontosub.model import Arc, Event, GraphPattern, Match, Subscription
from ontosub.model.pattern import is_constant
from ontosub.model.terms import Literal, NamedNode, PatternTerm, Term, Triple
from ontosub.semantics import Entailment
from ontosub.semantics.budget import Budget
from ontosub.semantics.event_graph import EventGraph


@dataclass(slots=True)
class GToPSSStats:
    """What was done for all events so far."""

    events: int = 0
    statements: int = 0
    entries: int = 0
    """Entries of the hash table that statements had to look at."""
    edge_matches: int = 0
    joins: int = 0
    class_checks: int = 0


WILDCARD = None
Pair: TypeAlias = tuple[Term | None, Term | None]
Edge: TypeAlias = tuple[str, int, Arc]
"""An arc of a subscription's pattern: the subscription's id, which of its patterns, and the arc."""


class EdgeTable:
    """The hash table: by (subject, object) with wildcards, then by property, the edges of all subscriptions."""

    def __init__(self) -> None:
        self._entries: dict[Pair, dict[NamedNode | None, dict[Edge, None]]] = {}

    def insert(self, edge: Edge) -> None:
        pair, label = _keys(edge)
        self._entries.setdefault(pair, {}).setdefault(label, {})[edge] = None

    def remove(self, edge: Edge) -> None:
        pair, label = _keys(edge)
        del self._entries[pair][label][edge]
        if not self._entries[pair][label]:
            del self._entries[pair][label]
        if not self._entries[pair]:
            del self._entries[pair]

    def matched_by(self, statement: Triple, stats: GToPSSStats) -> Iterator[Edge]:
        """Yield the edges that the statement matches: those of four pairs, with its property or with any."""
        for subject in (statement.subject, WILDCARD):
            for object_ in (statement.object, WILDCARD):
                labels = self._entries.get((subject, object_))
                if labels is not None:
                    stats.entries += 1
                    for label in (statement.predicate, WILDCARD):
                        yield from labels.get(label, ())


def _keys(edge: Edge) -> tuple[Pair, NamedNode | None]:
    _, _, arc = edge
    label = arc.property if isinstance(arc.property, NamedNode) else WILDCARD
    return (_constant(arc.subject), _constant(arc.object)), label


def _constant(term: PatternTerm) -> Term | None:
    return term if is_constant(term) else WILDCARD


class ClassTaxonomy:
    """The class hierarchy together with the individuals of one publication."""

    def __init__(self, concepts: Concepts, graph: EventGraph) -> None:
        self._concepts = concepts
        self._given = Given(graph)

    def contains(self, individual: Term, class_: NamedNode) -> bool:
        """Say whether the individual is in the class, climbing from the classes announced of it."""
        of_literal = isinstance(individual, Literal)
        announced = self._given.classes(individual)
        return any(class_ in self._concepts.class_ancestors(below, of_literal=of_literal) for below in announced)


class GToPSS(Algorithm):
    """Matches every pattern. `stats` counts the work of all events so far."""

    def __init__(self, entailment: Entailment) -> None:
        self._entailment = entailment
        self._concepts = Concepts(entailment)
        self._edges = EdgeTable()
        self._subscriptions: dict[str, tuple[Subscription, Outcome]] = {}
        self.stats = GToPSSStats()

    def subscribe(self, subscription: Subscription) -> None:
        """Take in a subscription whose id is new."""
        self._subscriptions[subscription.id] = subscription, Outcome(subscription)
        for edge in _edges_of(subscription):
            self._edges.insert(edge)

    def unsubscribe(self, id: str) -> None:
        subscription, _ = self._subscriptions.pop(id)
        for edge in _edges_of(subscription):
            self._edges.remove(edge)

    def match(self, event: Event) -> Iterator[Match]:
        graph = self._entailment.event_graph(event)
        matched = self._match_edges(graph)
        taxonomy = ClassTaxonomy(self._concepts, graph)

        def decide(id: str, budget: Budget) -> Match | None:
            subscription, outcome = self._subscriptions[id]
            found = []
            for number, pattern in enumerate(subscription.patterns):
                rows = {arc: matched.get((id, number, arc), []) for arc in pattern.arcs}
                found.append(self._result(pattern, rows, graph, taxonomy, budget))
            return outcome.match(graph, found)

        yield from decided(self, self._subscriptions, decide)

    def _match_edges(self, graph: EventGraph) -> dict[Edge, list[Row]]:
        """Return the statements that each edge matched. Only the class hierarchy is climbed later: all of E is read."""
        self.stats.events += 1
        matched: dict[Edge, list[Row]] = {}
        for statement in graph.triples:
            self.stats.statements += 1
            for edge in self._edges.matched_by(statement, self.stats):
                self.stats.edge_matches += 1
                matched.setdefault(edge, []).append((statement.subject, statement.predicate, statement.object))
        return matched

    def _result(
        self,
        pattern: GraphPattern,
        rows: dict[Arc, list[Row]],
        graph: EventGraph,
        taxonomy: ClassTaxonomy,
        budget: Budget,
    ) -> list[Mu]:
        """Return the mappings of a pattern: join its edges, add lone vertices, then check classes and the rest."""
        if not all(rows.values()):
            return []
        arcs = list(rows)
        triples = [(arc.subject, arc.property, arc.object) for arc in arcs]
        result = NOTHING_MAPPED
        for position in in_joining_order(triples):
            result = join(result, triples[position], rows[arcs[position]], budget)
            self.stats.joins += 1
            if not result:
                return []
        for vertex in lone_vertices(pattern):
            result = join(result, (vertex,), ((term,) for term in graph.vertices), budget)
        return confirmed([mu for mu in result if self._has_classes(mu, pattern, taxonomy)], pattern, graph)

    def _has_classes(self, mu: Mu, pattern: GraphPattern, taxonomy: ClassTaxonomy) -> bool:
        for vertex in pattern.vertices:
            for class_ in vertex.classes:
                self.stats.class_checks += 1
                image = image_of(vertex.term, mu)
                if image is None or not taxonomy.contains(image, class_):
                    return False
        return True


def _edges_of(subscription: Subscription) -> dict[Edge, None]:
    return {
        (subscription.id, number, arc): None
        for number, pattern in enumerate(subscription.patterns)
        for arc in pattern.arcs
    }
