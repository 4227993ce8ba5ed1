"""Entailment, level 1: what follows from an event and the background under the ontology.

The rules are those of RDFS and OWL 2 RL for subClassOf, subPropertyOf, domain, range, inverseOf, symmetric and
transitive properties; equivalence is a pair of inclusions. Every conclusion remembers the rule, the axiom and the
premises that first gave it, so that a match can be explained (`closure.py`).

Types in top and datatype classes are answered when asked for by name (`EventGraph.classes`), but they are no triples of
the event graph: as bindings of a type variable they would only be noise.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from ontosub.model import Event, Ontology
from ontosub.model.event import vertices_of
from ontosub.model.terms import OWL, RDFS, TYPE, NamedNode, Term, Triple
from ontosub.semantics.closure import Closure, Derivation, Form, Limits
from ontosub.semantics.event_graph import IMPLIED_CLASSES, EventGraph
from ontosub.semantics.hierarchy import Hierarchy

LIMITS = Limits(conclusions=400_000, steps=5_000_000)
"""What may follow from one event and the background that it reaches: a chain of n transitive arcs has n²/2 conclusions.

That is what Python can hold and find in a few seconds. The compiled algorithm has a limit of its own, `ARCS_MAX`.
"""


class Entailment:
    """The level-1 rules of one ontology, ready to be applied to graphs; `premises` are the properties they speak of."""

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self.classes = Hierarchy(ontology.subclasses)
        self.properties = Hierarchy(ontology.subproperties)
        self._inverses = _grouped([*ontology.inverses, *((q, p) for p, q in ontology.inverses)])
        self._domains = _grouped(ontology.domains)
        self._ranges = _grouped(ontology.ranges)
        self._forms: dict[NamedNode, list[tuple[Form, NamedNode, Triple]]] = {}
        narrower = (property_ for property_, _ in ontology.subproperties)
        stated = (*narrower, *self._inverses, *self._domains, *self._ranges, *ontology.symmetric, *ontology.transitive)
        self.premises = frozenset({*stated, TYPE} if ontology.subclasses else stated)

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

        Raises LimitError when more follows than LIMITS allow.
        """
        given = dict(self._reached(event))
        given.update(dict.fromkeys(event.graph))
        closure = Closure(self, given, LIMITS)
        return EventGraph(event, self.classes, closure, ChainMap(closure, self.background))  # type: ignore[arg-type]

    def close(self, graph: Iterable[Triple]) -> Mapping[Triple, Derivation | None]:
        """Return all triples that follow from `graph`, each with its first derivation; None marks the given ones."""
        return Closure(self, dict.fromkeys(graph))

    @cached_property
    def _implied(self) -> frozenset[NamedNode]:
        return frozenset(wider for class_ in IMPLIED_CLASSES for wider in self.classes.above(class_))

    @cached_property
    def background(self) -> Mapping[Triple, Derivation | None]:
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

    def forms(self, property_: NamedNode) -> list[tuple[Form, NamedNode, Triple]]:
        """Return what follows from one triple of a property: in which form, with which property or class, why."""
        if property_ not in self.premises:
            return []
        if property_ not in self._forms:
            self._forms[property_] = list(self._stated(property_))
        return self._forms[property_]

    def _stated(self, property_: NamedNode) -> Iterator[tuple[Form, NamedNode, Triple]]:
        for form, kind, others in (
            (Form.ALONG, RDFS["subPropertyOf"], self.properties.parents(property_)),
            (Form.SUBJECT_IS_A, RDFS["domain"], self._domains.get(property_, ())),
            (Form.OBJECT_IS_A, RDFS["range"], self._ranges.get(property_, ())),
            (Form.BACK, OWL["inverseOf"], self.inverses(property_)),
        ):
            for other in others:
                yield form, other, Triple(property_, kind, other)
        if property_ in self.ontology.symmetric:
            yield Form.BACK, property_, Triple(property_, TYPE, OWL["SymmetricProperty"])


def _grouped(pairs: Iterable[tuple[NamedNode, NamedNode]]) -> dict[NamedNode, list[NamedNode]]:
    groups: dict[NamedNode, list[NamedNode]] = {}
    for first, second in sorted(set(pairs), key=lambda pair: (pair[0].value, pair[1].value)):
        groups.setdefault(first, []).append(second)
    return groups
