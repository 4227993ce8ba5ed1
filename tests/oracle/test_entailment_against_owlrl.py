"""Level-1 entailment equals what owlrl, a complete OWL 2 RL reasoner, concludes in the same fragment."""

import owlrl
import rdflib
from hypothesis import given, settings

from generators import CLASSES, PROPERTIES, events, ontologies
from ontosub.model import Ontology
from ontosub.model.terms import OWL, RDFS, TYPE, BlankNode, Literal, NamedNode, Triple
from ontosub.semantics import Entailment


def schema(ontology: Ontology) -> list[Triple]:
    return [
        *(Triple(a, RDFS["subClassOf"], b) for a, b in ontology.subclasses),
        *(Triple(a, RDFS["subPropertyOf"], b) for a, b in ontology.subproperties),
        *(Triple(a, OWL["inverseOf"], b) for a, b in ontology.inverses),
        *(Triple(a, RDFS["domain"], b) for a, b in ontology.domains),
        *(Triple(a, RDFS["range"], b) for a, b in ontology.ranges),
        *(Triple(p, TYPE, OWL["SymmetricProperty"]) for p in ontology.symmetric),
        *(Triple(p, TYPE, OWL["TransitiveProperty"]) for p in ontology.transitive),
    ]


def concluded_by_owlrl(triples: list[Triple]) -> set[str]:
    graph = rdflib.Graph()
    graph.parse(data="\n".join(f"{triple} ." for triple in triples), format="nt")
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    wanted_properties = {p.value for p in PROPERTIES}
    wanted_classes = {c.value for c in CLASSES}
    return {
        f"{s.n3()} {p.n3()} {o.n3()}"
        for s, p, o in graph
        if not isinstance(s, rdflib.Literal)
        and (str(p) in wanted_properties or (p == rdflib.RDF.type and str(o) in wanted_classes))
    }


def comparable(triples: frozenset[Triple], ontology: Ontology) -> list[Triple]:
    """Return the triples in the shape that both reasoners read alike.

    Blank nodes get names. Of the literals only one string stays, because owlrl also equates literals by value, which is
    not level 1; and none where properties are turned around, because owlrl then reasons with literals as subjects:
    OWL allows inverse and symmetric properties between individuals only.
    """

    def named(term):
        return NamedNode(f"urn:blank:{term.value}") if isinstance(term, BlankNode) else term

    allowed = set() if ontology.inverses or ontology.symmetric else {Literal("red")}
    kept = [triple for triple in triples if not isinstance(triple.object, Literal) or triple.object in allowed]
    return [Triple(named(t.subject), t.predicate, named(t.object)) for t in kept]


@settings(max_examples=60, deadline=None)
@given(ontologies, events)
def test_level_1_entailment_is_complete_and_sound(ontology, event):
    given_triples = comparable(event.graph | ontology.background, ontology)
    ours = {str(triple) for triple in Entailment(ontology).close(given_triples)}
    assert ours == concluded_by_owlrl([*schema(ontology), *given_triples])
