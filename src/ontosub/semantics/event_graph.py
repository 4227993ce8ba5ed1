"""The event graph E of the definition of a match: closed under entailment, ready to be searched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from ontosub.model import Event
from ontosub.model.event import vertices_of
from ontosub.model.terms import (
    DATATYPES,
    LITERAL_CLASS,
    TOP_CLASSES,
    TYPE,
    BlankNode,
    Literal,
    NamedNode,
    Resource,
    Term,
    Triple,
    datatype_closure,
)
from ontosub.semantics.hierarchy import Hierarchy

if TYPE_CHECKING:
    from ontosub.semantics.closure import Derivation


IMPLIED_CLASSES = TOP_CLASSES | DATATYPES | {LITERAL_CLASS}
"""Classes that are answered when asked for by name, and never bound."""


class EventGraph:
    """An event with all that follows from it: triples, vertices, and the classes of each vertex.

    `known` holds every triple that follows; `derivations` says why, also for what lies behind them in the background.
    """

    def __init__(
        self,
        event: Event,
        hierarchy: Hierarchy,
        known: Iterable[Triple],
        derivations: Mapping[Triple, Derivation | None],
    ) -> None:
        known = list(known)
        self.event = event
        self.derivations = derivations
        self.vertices = vertices_of(known)
        self.triples = frozenset(t for t in known if t.predicate != TYPE or t.object not in IMPLIED_CLASSES)
        self._known = known
        self._hierarchy = hierarchy
        self._classes: dict[Term, frozenset[NamedNode]] = {}

    @property
    def home(self) -> Resource | None:
        return self.event.home

    def classes(self, vertex: Term) -> frozenset[NamedNode]:
        """Return every class that the vertex satisfies when asked for by name.

        A resource has its entailed types and the top classes; a literal its datatype, the datatypes that this derives
        from, and rdfs:Literal; and all of these have whatever the ontology puts above them.
        """
        if vertex not in self._classes:
            # Entailed types have all that is above them already.
            self._classes[vertex] = own_classes(vertex, self._hierarchy) | self.types.get(vertex, frozenset())
        return self._classes[vertex]

    @cached_property
    def types(self) -> dict[Term, frozenset[NamedNode]]:
        """The entailed types of each vertex that has any."""
        types: defaultdict[Term, set[NamedNode]] = defaultdict(set)
        for triple in self._known:
            if triple.predicate == TYPE and isinstance(triple.object, NamedNode):
                types[triple.subject].add(triple.object)
        return {vertex: frozenset(classes) for vertex, classes in types.items()}

    @cached_property
    def named(self) -> dict[Resource, EventGraph]:
        """The named graphs of the event. Nothing is concluded from them."""
        triples: defaultdict[Resource, dict[Triple, None]] = defaultdict(dict)
        for quad in self.event.named_graphs:
            if isinstance(quad.graph_name, NamedNode | BlankNode):
                triples[quad.graph_name][quad.triple] = None
        return {name: EventGraph(self.event, self._hierarchy, known, {}) for name, known in triples.items()}

    @cached_property
    def by_subject(self) -> dict[Term, list[Triple]]:
        """The triples that start at each vertex."""
        return _grouped(self.triples, "subject")

    @cached_property
    def by_object(self) -> dict[Term, list[Triple]]:
        """The triples that end at each vertex."""
        return _grouped(self.triples, "object")

    @cached_property
    def by_predicate(self) -> dict[Term, list[Triple]]:
        """The triples of each property."""
        return _grouped(self.triples, "predicate")


def own_classes(term: Term, hierarchy: Hierarchy) -> frozenset[NamedNode]:
    """Return the classes that a term has for what it is, whatever is said of it: with all that is above them."""
    own = datatype_closure(term.datatype) if isinstance(term, Literal) else TOP_CLASSES
    return frozenset(wider for class_ in own for wider in hierarchy.above(class_))


def _grouped(triples: frozenset[Triple], part: str) -> dict[Term, list[Triple]]:
    groups: defaultdict[Term, list[Triple]] = defaultdict(list)
    for triple in triples:
        groups[getattr(triple, part)].append(triple)
    return dict(groups)
