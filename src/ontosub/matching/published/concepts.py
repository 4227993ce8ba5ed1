"""What the papers' algorithms know of the ontology: ancestor lists, and the statements that these leave to say.

All three papers climb the hierarchies while they match. So from the event graph E, which is closed under entailment,
they are given only what a hierarchy alone does not give: what was stated, and what follows by inverse, symmetric,
transitive, domain and range. Nothing is lost: a statement that E has by subPropertyOf or subClassOf was derived, step
by step upwards, from one that is given, and the ancestor lists lead the same way up.
"""

from __future__ import annotations

from ontosub.model.terms import (
    OWL,
    RDFS,
    TOP_CLASSES,
    TYPE,
    Literal,
    NamedNode,
    Term,
    Triple,
    datatype_closure,
)
from ontosub.semantics.entailment import Entailment
from ontosub.semantics.event_graph import IMPLIED_CLASSES, EventGraph
from ontosub.semantics.hierarchy import Hierarchy

THING = OWL["Thing"]


class Concepts:
    """The ancestor lists of classes and properties. A class or property is in its own list."""

    def __init__(self, entailment: Entailment) -> None:
        self._classes = entailment.classes
        # What the hierarchy of properties makes of rdf:type is taken from E: a type is not an arc.
        self._properties = Hierarchy(pair for pair in entailment.ontology.subproperties if TYPE not in pair)

    def class_ancestors(self, class_: NamedNode, *, of_literal: bool = False) -> frozenset[NamedNode]:
        """Return every class that an individual is in because `class_` is announced of it.

        A resource is in the top classes besides; a literal in what XSD derives its datatype from, and in rdfs:Literal.
        """
        roots = datatype_closure(class_) if of_literal else TOP_CLASSES | {class_}
        return frozenset(wider for root in roots for wider in self._classes.above(root))

    def type_ancestors(self, class_: NamedNode) -> frozenset[NamedNode]:
        """Return the objects of the rdf:type statements that follow from one with the object `class_`.

        Top and datatype classes are not among them: they are answered when asked for by name, and never bound.
        """
        return self._classes.above(class_) - IMPLIED_CLASSES

    def property_ancestors(self, property_: NamedNode) -> frozenset[NamedNode]:
        """Return the properties of the statements that follow from one with `property_`."""
        return self._properties.above(property_)


class Given:
    """The statements of an event graph that the ancestor lists do not give, and the classes announced by them."""

    def __init__(self, graph: EventGraph) -> None:
        # Types in top and datatype classes are not among E's triples, but more may follow from them.
        types = (Triple(term, TYPE, class_) for term, classes in graph.types.items() for class_ in classes)  # type: ignore[arg-type]
        self._types: dict[Term, list[NamedNode]] = {}
        self._about: dict[Term, list[Triple]] = {}
        for triple in sorted({*graph.triples, *types}, key=str):
            if not _by_hierarchy(triple, graph):
                self._about.setdefault(triple.subject, []).append(triple)
                if triple.predicate == TYPE and isinstance(triple.object, NamedNode):
                    self._types.setdefault(triple.subject, []).append(triple.object)

    def about(self, individual: Term) -> list[Triple]:
        """Return the given statements about the individual, its types among them."""
        return self._about.get(individual, [])

    def classes(self, individual: Term) -> list[NamedNode]:
        """Return the classes announced of the individual: a literal's datatype; owl:Thing if there is no other."""
        if isinstance(individual, Literal):
            return [individual.datatype]
        return self._types.get(individual, [THING])


def _by_hierarchy(triple: Triple, graph: EventGraph) -> bool:
    derivation = graph.derivations[triple]
    if derivation is None:
        return False
    axiom = derivation.axiom
    if axiom.predicate == RDFS["subPropertyOf"]:
        return TYPE not in (axiom.subject, axiom.object)
    return axiom.predicate == RDFS["subClassOf"]
