"""Entailment, level 1: what follows from an event and the background under the ontology.

The rules are those of RDFS and OWL 2 RL for subClassOf, subPropertyOf, domain, range, inverseOf, symmetric and
transitive properties; equivalence is a pair of inclusions. Every conclusion remembers the rule, the axiom and the
premises that first gave it, so that a match can be explained.

Types in top and datatype classes are answered when asked for by name (`EventGraph.classes`), but they are no triples of
the event graph: as bindings of a type variable they would only be noise.
"""

from __future__ import annotations

from collections import ChainMap, defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ontosub.model import Event, Ontology
from ontosub.model.event import vertices_of
from ontosub.model.terms import (
    OWL,
    RDFS,
    TYPE,
    BlankNode,
    NamedNode,
    Term,
    Triple,
)
from ontosub.semantics.event_graph import IMPLIED_CLASSES, EventGraph
from ontosub.semantics.hierarchy import Hierarchy


@dataclass(frozen=True, slots=True)
class Derivation:
    """Why a triple holds: an axiom of the ontology applied to premises."""

    axiom: Triple
    premises: tuple[Triple, ...]


class Entailment:
    """The level-1 rules of one ontology, ready to be applied to graphs."""

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self.classes = Hierarchy(ontology.subclasses)
        self.properties = Hierarchy(ontology.subproperties)
        self._inverses = _grouped([*ontology.inverses, *((q, p) for p, q in ontology.inverses)])
        self._domains = _grouped(ontology.domains)
        self._ranges = _grouped(ontology.ranges)

    def inverses(self, property_: NamedNode) -> list[NamedNode]:
        """Return the properties that are stated to be inverse to this one."""
        return self._inverses.get(property_, [])

    def is_implied(self, class_: NamedNode) -> bool:
        """Say whether the class holds of vertices that no triple types: a top or datatype class, or one above it."""
        return class_ in self._implied

    def event_graph(self, event: Event) -> EventGraph:
        """Return the graph that patterns are matched against: event and reachable background, closed under the rules.

        What an event can reach are the background's statements about its vertices, about the vertices that these lead
        to, and so on. Statements are followed from subject to object, after entailment over the background: a property
        with a declared inverse, or a symmetric one, can be followed both ways.
        """
        known = dict(self._reached(event))
        known.update(dict.fromkeys(event.graph))
        derivations = _Closing(self, known).run()
        return EventGraph(event, self.classes, derivations, ChainMap(derivations, self.background))

    def close(self, graph: Iterable[Triple]) -> dict[Triple, Derivation | None]:
        """Return all triples that follow from `graph`, each with its first derivation; None marks the given ones."""
        return _Closing(self, dict.fromkeys(graph)).run()

    @cached_property
    def _implied(self) -> frozenset[NamedNode]:
        return frozenset(wider for class_ in IMPLIED_CLASSES for wider in self.classes.above(class_))

    @cached_property
    def background(self) -> dict[Triple, Derivation | None]:
        """The background facts, closed under the rules."""
        return self.close(self.ontology.background)

    @cached_property
    def _statements_about(self) -> dict[Term, list[Triple]]:
        about: dict[Term, list[Triple]] = {}
        for triple in self.background:
            about.setdefault(triple.subject, []).append(triple)
        return about

    def _reached(self, event: Event) -> Iterator[tuple[Triple, Derivation | None]]:
        """Yield the statements of the background that the event can reach, with their derivations."""
        about = self._statements_about
        seen = {term for term in vertices_of(event.graph) if term in about}
        waiting = list(seen)
        while waiting:
            for triple in about[waiting.pop()]:
                yield triple, self.background[triple]
                leads_to = triple.object
                if triple.predicate != TYPE and leads_to in about and leads_to not in seen:
                    seen.add(leads_to)
                    waiting.append(leads_to)

    def conclusions(self, triple: Triple) -> Iterator[tuple[Triple, Triple]]:
        """Yield what follows from one triple and one axiom, as (conclusion, axiom)."""
        subject, predicate, object_ = triple.subject, triple.predicate, triple.object
        for wider in self.properties.parents(predicate):
            yield Triple(subject, wider, object_), Triple(predicate, RDFS["subPropertyOf"], wider)
        for class_ in self._domains.get(predicate, ()):
            yield Triple(subject, TYPE, class_), Triple(predicate, RDFS["domain"], class_)
        if not isinstance(object_, NamedNode | BlankNode):
            return
        for class_ in self._ranges.get(predicate, ()):
            yield Triple(object_, TYPE, class_), Triple(predicate, RDFS["range"], class_)
        for inverse in self._inverses.get(predicate, ()):
            yield Triple(object_, inverse, subject), Triple(predicate, OWL["inverseOf"], inverse)
        if predicate in self.ontology.symmetric:
            yield Triple(object_, predicate, subject), Triple(predicate, TYPE, OWL["SymmetricProperty"])
        if predicate == TYPE and isinstance(object_, NamedNode):
            for wider in self.classes.parents(object_):
                yield Triple(subject, TYPE, wider), Triple(object_, RDFS["subClassOf"], wider)


class _Closing:
    """One run of the rules to their fixed point, triple by triple."""

    def __init__(self, rules: Entailment, known: dict[Triple, Derivation | None]) -> None:
        self._rules = rules
        self._known = known
        self._waiting = deque(known)
        self._objects: defaultdict[tuple[Term, NamedNode], list[Term]] = defaultdict(list)
        self._subjects: defaultdict[tuple[Term, NamedNode], list[Term]] = defaultdict(list)

    def run(self) -> dict[Triple, Derivation | None]:
        while self._waiting:
            triple = self._waiting.popleft()
            for conclusion, axiom in self._rules.conclusions(triple):
                self._conclude(conclusion, Derivation(axiom, (triple,)))
            if triple.predicate in self._rules.ontology.transitive:
                self._chain(triple)
        return self._known

    def _conclude(self, conclusion: Triple, derivation: Derivation) -> None:
        if conclusion not in self._known:
            self._known[conclusion] = derivation
            self._waiting.append(conclusion)

    def _chain(self, triple: Triple) -> None:
        """Apply transitivity between this triple and those of the same property seen before.

        Chains are only ever lengthened by arcs that are not chains themselves: every chain is found that way, and the
        work is bounded by the conclusions times the arcs that leave a vertex.
        """
        subject, predicate, object_ = triple.subject, triple.predicate, triple.object
        axiom = Triple(predicate, TYPE, OWL["TransitiveProperty"])
        derivation = self._known[triple]
        is_chain = derivation is not None and derivation.axiom == axiom
        self._subjects[object_, predicate].append(subject)
        for end in list(self._objects.get((object_, predicate), ())):
            premises = (triple, Triple(object_, predicate, end))  # type: ignore[arg-type]
            self._conclude(Triple(subject, predicate, end), Derivation(axiom, premises))
        if is_chain:
            return
        self._objects[subject, predicate].append(object_)
        for start in list(self._subjects.get((subject, predicate), ())):
            premises = (Triple(start, predicate, subject), triple)  # type: ignore[arg-type]
            self._conclude(Triple(start, predicate, object_), Derivation(axiom, premises))  # type: ignore[arg-type]


def _grouped(pairs: Iterable[tuple[NamedNode, NamedNode]]) -> dict[NamedNode, list[NamedNode]]:
    groups: dict[NamedNode, list[NamedNode]] = {}
    for first, second in sorted(set(pairs), key=lambda pair: (pair[0].value, pair[1].value)):
        groups.setdefault(first, []).append(second)
    return groups
