"""RDF terms and the vocabularies that Ontosub knows.

Terms are pyoxigraph's own: validated, hashable, immutable. There is no second term model; this module only gives
the unions names and holds the IRIs that other modules refer to.
"""

from __future__ import annotations

from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Triple, Variable

Resource: TypeAlias = NamedNode | BlankNode
Term: TypeAlias = NamedNode | BlankNode | Literal | Triple
PatternTerm: TypeAlias = Variable | NamedNode | BlankNode | Literal
"""What may stand in a pattern. A blank node is a vertex without a name: matched like a variable, never projected."""


class Namespace(str):
    """An IRI prefix: `RDFS["subClassOf"]` is a NamedNode."""

    __slots__ = ()

    def __getitem__(self, name: str) -> NamedNode:  # type: ignore[override]
        return NamedNode(str(self) + name)


RDF = Namespace("http://www.w3.org/1999/02/22-rdf-syntax-ns#")
RDFS = Namespace("http://www.w3.org/2000/01/rdf-schema#")
OWL = Namespace("http://www.w3.org/2002/07/owl#")
XSD = Namespace("http://www.w3.org/2001/XMLSchema#")
DAML = Namespace("http://www.daml.org/2001/03/daml+oil#")
ONTOSUB = Namespace("urn:ontosub:ns#")
"""Our own vocabulary: explicit meta-statements, and the properties of lifted maps and trees."""

TYPE = RDF["type"]
HOME = BlankNode("H")
"""The home vertex as OPS writes it: `_:H`."""

TOP_CLASSES = frozenset({OWL["Thing"], DAML["Thing"], RDFS["Resource"]})
LITERAL_CLASS = RDFS["Literal"]

_DERIVED_FROM = {
    "integer": "decimal",
    "long": "integer",
    "int": "long",
    "short": "int",
    "byte": "short",
    "nonNegativeInteger": "integer",
    "positiveInteger": "nonNegativeInteger",
    "unsignedLong": "nonNegativeInteger",
    "unsignedInt": "unsignedLong",
    "unsignedShort": "unsignedInt",
    "unsignedByte": "unsignedShort",
    "nonPositiveInteger": "integer",
    "negativeInteger": "nonPositiveInteger",
    "normalizedString": "string",
    "token": "normalizedString",
    "language": "token",
    "Name": "token",
    "NMTOKEN": "token",
    "NCName": "Name",
    "dateTimeStamp": "dateTime",
    "yearMonthDuration": "duration",
    "dayTimeDuration": "duration",
}
_PRIMITIVE = (
    "string boolean decimal float double duration dateTime time date gYearMonth gYear gMonthDay gDay gMonth "
    "hexBinary base64Binary anyURI"
)

_BASE = {XSD[derived]: XSD[base] for derived, base in _DERIVED_FROM.items()}

DATATYPES = frozenset({*_BASE, *(XSD[name] for name in _PRIMITIVE.split()), RDF["langString"], RDF["dirLangString"]})
"""The datatypes known by name: those of XSD that RDF allows, and those of strings with a language."""


def datatype_closure(datatype: NamedNode) -> frozenset[NamedNode]:
    """Return the classes of a literal with this datatype: itself, what XSD derives it from, and rdfs:Literal.

    >>> XSD["decimal"] in datatype_closure(XSD["int"])
    True
    """
    classes = {datatype, LITERAL_CLASS}
    while (base := _BASE.get(datatype)) is not None:
        classes.add(base)
        datatype = base
    return frozenset(classes)


def n_triples(term: Term) -> str:
    """Return a term as N-Triples writes it. `str()` of a triple term has no brackets around it.

    >>> n_triples(Triple(TYPE, TYPE, HOME)).startswith("<<( <http://")
    True
    """
    return f"<<( {term} )>>" if isinstance(term, Triple) else str(term)


__all__ = [
    "DAML",
    "DATATYPES",
    "HOME",
    "LITERAL_CLASS",
    "ONTOSUB",
    "OWL",
    "RDF",
    "RDFS",
    "TOP_CLASSES",
    "TYPE",
    "XSD",
    "BlankNode",
    "Literal",
    "NamedNode",
    "Namespace",
    "PatternTerm",
    "Resource",
    "Term",
    "Triple",
    "Variable",
    "datatype_closure",
    "n_triples",
]
