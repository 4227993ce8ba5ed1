"""What belongs to the ontology languages: old terms and their twins of today, and which statements are schema.

DAML+OIL terms are read as their OWL, RDFS or RDF twins, and the datatypes of the XML Schema drafts that it built on
(1999, October 2000) as those of the recommendation.

A statement of an ontology file is either schema (it speaks of classes and properties in the language's own terms) or a
background fact. Labels, comments and statements about individuals are facts.
"""

from __future__ import annotations

from collections.abc import Iterable

from ontosub.model.terms import ONTOSUB, OWL, RDF, RDFS, TYPE, XSD, BlankNode, Literal, NamedNode, Term, Triple

_DAML_NAMESPACES = (
    "http://www.daml.org/2001/03/daml+oil#",
    "http://www.daml.org/2000/12/daml+oil#",
    "http://www.daml.org/2000/10/daml-ont#",
)
DRAFTS_OF_XSD = ("http://www.w3.org/1999/XMLSchema#", "http://www.w3.org/2000/10/XMLSchema#")
_OLD = (*_DAML_NAMESPACES, *DRAFTS_OF_XSD)
LANGUAGES = frozenset(namespace.rstrip("#") for namespace in (RDF, RDFS, OWL, XSD, *_OLD))
"""The documents that define the languages themselves: known, whether or not an ontology imports them."""

_RENAMED_DATATYPES = {
    "timeInstant": "dateTime",
    "timeDuration": "duration",
    "uriReference": "anyURI",
    "CDATA": "normalizedString",
    "year": "gYear",
    "month": "gYearMonth",
    "recurringDate": "gMonthDay",
}
_RENAMED = {
    "sameClassAs": OWL["equivalentClass"],
    "samePropertyAs": OWL["equivalentProperty"],
    "sameIndividualAs": OWL["sameAs"],
    "differentIndividualFrom": OWL["differentFrom"],
    "toClass": OWL["allValuesFrom"],
    "hasClass": OWL["someValuesFrom"],
    "UniqueProperty": OWL["FunctionalProperty"],
    "UnambiguousProperty": OWL["InverseFunctionalProperty"],
}
_RDFS_NAMES = frozenset(
    {"subClassOf", "subPropertyOf", "domain", "range", "label", "comment", "seeAlso", "isDefinedBy", "Literal"}
)
_RDF_NAMES = frozenset(["type", "value", "first", "rest", "nil", "List", "Property"])

EQUIVALENT_TO = OWL["equivalentTo"]
"""DAML+OIL's equivalence of classes or of properties, whichever they are; OWL has no twin for it."""

_SCHEMA_PREDICATES = frozenset(RDFS[name] for name in ("subClassOf", "subPropertyOf", "domain", "range"))
_THING = OWL["Thing"]
_FACTUAL_OWL = frozenset({OWL["sameAs"], OWL["differentFrom"]})
_META_CLASSES = frozenset(
    {RDFS["Class"], RDFS["Datatype"], RDFS["ContainerMembershipProperty"], RDF["Property"], ONTOSUB["MetaStatement"]}
)


def as_owl(triple: Triple) -> Triple:
    """Return the statement with every old term, or datatype of a literal, replaced by its twin of today."""
    terms = (triple.subject, triple.predicate, triple.object)
    twins = tuple(map(_twin, terms))
    return triple if twins == terms else Triple(*twins)  # type: ignore[arg-type]


def _twin(term: Term) -> Term:
    if isinstance(term, NamedNode):
        return _twin_of_name(term) if term.value.startswith(_OLD) else term
    if isinstance(term, Literal) and term.datatype.value.startswith(DRAFTS_OF_XSD):
        return Literal(term.value, datatype=_twin_of_name(term.datatype))
    return term


def _twin_of_name(term: NamedNode) -> NamedNode:
    namespace = next(namespace for namespace in _OLD if term.value.startswith(namespace))
    name = term.value[len(namespace) :]
    if namespace in DRAFTS_OF_XSD:
        return XSD[_RENAMED_DATATYPES.get(name, name)]
    if name in _RENAMED:
        return _RENAMED[name]
    return RDFS[name] if name in _RDFS_NAMES else RDF[name] if name in _RDF_NAMES else OWL[name]


def split(triples: Iterable[Triple]) -> tuple[list[Triple], list[Triple]]:
    """Divide statements into (schema, background facts)."""
    triples = list(triples)
    inside = _expression_nodes(triples)
    schema: list[Triple] = []
    facts: list[Triple] = []
    for triple in triples:
        (schema if triple.subject in inside or _is_schema(triple) else facts).append(triple)
    return schema, facts


def _is_schema(triple: Triple) -> bool:
    predicate = triple.predicate
    if predicate == TYPE:
        return triple.object in _META_CLASSES or _is_owl(triple.object)
    return predicate in _SCHEMA_PREDICATES or (_is_owl(predicate) and predicate not in _FACTUAL_OWL)


def _is_owl(term: Term) -> bool:
    return isinstance(term, NamedNode) and term.value.startswith(OWL) and term != _THING


def _expression_nodes(triples: list[Triple]) -> set[Term]:
    """Return the blank nodes that write down a class expression, a list inside one, or a meta-statement."""
    objects: dict[Term, list[Term]] = {}
    for triple in triples:
        objects.setdefault(triple.subject, []).append(triple.object)
    waiting = [term for triple in triples if _is_schema(triple) for term in (triple.subject, triple.object)]
    found: set[Term] = set()
    while waiting:
        term = waiting.pop()
        if isinstance(term, BlankNode) and term not in found:
            found.add(term)
            waiting.extend(objects.get(term, ()))
    return found
