"""Generated ontologies, backgrounds, events and patterns over one small vocabulary.

Small on purpose: with few names, generated things meet each other, and most cases have something to say.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from pyoxigraph import BaseDirection

from ontosub.model import Arc, Event, Filter, GraphPattern, Ontology, Vertex
from ontosub.model.expression import Call, Function
from ontosub.model.terms import HOME, OWL, RDF, RDFS, TYPE, XSD, BlankNode, Literal, NamedNode, Triple, Variable

CLASSES = [NamedNode(f"urn:C{i}") for i in range(6)]
PROPERTIES = [NamedNode(f"urn:p{i}") for i in range(5)]
INDIVIDUALS = [NamedNode(f"urn:i{i}") for i in range(5)]
BLANKS = [HOME, *(BlankNode(f"x{i}") for i in range(3))]
LITERALS = [
    Literal("red"),
    Literal("red", language="en"),
    Literal(3),
    Literal("3.0", datatype=XSD["decimal"]),
    Literal("07", datatype=XSD["int"]),
    Literal(2.5),
    Literal(True),
    Literal("2024-05-01", datatype=XSD["date"]),
    Literal("2024-05-01T10:00:00Z", datatype=XSD["dateTime"]),
    Literal("2024-05-01T10:00:00", datatype=XSD["dateTime"]),
    Literal("3", datatype=XSD["float"]),
]
DIRECTED = Literal('red" )>>', language="ar", direction=BaseDirection.RTL)
CONSTANT_TRIPLES = [
    Triple(INDIVIDUALS[0], PROPERTIES[0], INDIVIDUALS[1]),
    Triple(INDIVIDUALS[0], PROPERTIES[0], Literal("07", datatype=XSD["int"])),
    Triple(INDIVIDUALS[0], PROPERTIES[0], Literal(7)),
    Triple(INDIVIDUALS[1], PROPERTIES[1], DIRECTED),
    Triple(
        INDIVIDUALS[2], PROPERTIES[1], Triple(INDIVIDUALS[0], PROPERTIES[0], Literal("3.0", datatype=XSD["decimal"]))
    ),
]
RDF_12_CONSTANTS = [DIRECTED, *CONSTANT_TRIPLES]
RDF_12_VALUES = [
    *RDF_12_CONSTANTS,
    Triple(BLANKS[1], PROPERTIES[0], INDIVIDUALS[1]),
    Triple(BLANKS[2], PROPERTIES[0], Triple(BLANKS[1], TYPE, BLANKS[1])),
]
"""What only RDF 1.2 can say: strings with a direction, triple terms that are equal or not, nested, with blank nodes."""
VARIABLES = [Variable(name) for name in ("a", "b", "c", "d")]

classes, properties, individuals = (st.sampled_from(names) for names in (CLASSES, PROPERTIES, INDIVIDUALS))


def pairs(first: st.SearchStrategy[NamedNode], second: st.SearchStrategy[NamedNode], most: int):
    pair = st.tuples(first, second).filter(lambda pair: pair[0] != pair[1])
    return st.frozensets(pair, max_size=most)


def triples(resources: list, objects: list) -> st.SearchStrategy[Triple]:
    plain = st.builds(Triple, st.sampled_from(resources), properties, st.sampled_from(objects))
    typing = st.builds(Triple, st.sampled_from(resources), st.just(TYPE), classes)
    return st.one_of(plain, plain, typing)


ontologies = st.builds(
    Ontology,
    classes=st.just(frozenset(CLASSES)),
    properties=st.just(frozenset(PROPERTIES)),
    subclasses=pairs(classes, classes, 5),
    subproperties=pairs(properties, properties, 3),
    inverses=pairs(properties, properties, 1),
    symmetric=st.frozensets(properties, max_size=1),
    transitive=st.frozensets(properties, max_size=1),
    domains=pairs(properties, classes, 2),
    ranges=pairs(properties, classes, 2),
    background=st.frozensets(triples(INDIVIDUALS, [*INDIVIDUALS, *LITERALS]), max_size=6),
)

graphs = st.frozensets(triples([*BLANKS, *INDIVIDUALS], [*BLANKS, *INDIVIDUALS, *LITERALS]), min_size=1, max_size=12)
events = st.builds(Event, id=st.just("e"), graph=graphs)

_about_triples = triples([*BLANKS, *INDIVIDUALS], RDF_12_VALUES)
rdf_12_events = st.builds(
    lambda graph, more: Event("e", graph | more), graphs, st.frozensets(_about_triples, min_size=1, max_size=6)
)
rdf_12_ontologies = st.builds(
    lambda ontology, more: replace(ontology, background=ontology.background | more),
    ontologies,
    st.frozensets(triples(INDIVIDUALS, RDF_12_VALUES), max_size=2),
)

COMPARISONS = [
    Function.LESS,
    Function.LESS_OR_EQUAL,
    Function.GREATER,
    Function.GREATER_OR_EQUAL,
    Function.EQUAL,
    Function.NOT_EQUAL,
]

_comparison = st.builds(
    lambda variable, function, constant: Call(function, (variable, constant)),
    st.sampled_from(VARIABLES),
    st.sampled_from([*COMPARISONS]),
    st.sampled_from([*LITERALS, *INDIVIDUALS]),
)
_test = st.builds(
    lambda variable, function: Call(function, (variable,)),
    st.sampled_from(VARIABLES),
    st.sampled_from([Function.IS_IRI, Function.IS_LITERAL, Function.IS_BLANK]),
)
_join = st.builds(
    lambda first, second, function: Call(function, (first, second)),
    st.sampled_from(VARIABLES),
    st.sampled_from(VARIABLES),
    st.sampled_from([*COMPARISONS, Function.SAME_TERM]),
)
_text = st.builds(
    lambda variable, function, wrap, needle: Call(function, (wrap(variable), Literal(needle))),
    st.sampled_from(VARIABLES),
    st.sampled_from([Function.CONTAINS, Function.STARTS, Function.ENDS, Function.REGEX]),
    st.sampled_from(
        [
            lambda variable: variable,
            lambda variable: Call(Function.STR, (variable,)),
            lambda variable: Call(Function.UPPER, (Call(Function.STR, (variable,)),)),
        ]
    ),
    st.sampled_from(["r", "ed", "red", "urn:i", "1", "RED", "3"]),
)
_sort = st.builds(
    lambda variable, function, value: Call(Function.EQUAL, (Call(function, (variable,)), value)),
    st.sampled_from(VARIABLES),
    st.sampled_from([Function.LANG, Function.DATATYPE, Function.STR]),
    st.sampled_from([Literal("en"), Literal("red"), Literal(""), XSD["string"], XSD["integer"], XSD["date"]]),
)
_list = st.builds(
    lambda variable, function, members: Call(function, (variable, *members)),
    st.sampled_from(VARIABLES),
    st.sampled_from([Function.IN, Function.IN, Function.NOT_IN]),
    st.lists(st.sampled_from([*LITERALS, *INDIVIDUALS]), min_size=1, max_size=3),
)
_single = st.one_of(_comparison, _comparison, _test, _join, _text, _sort, _list)
_either = st.builds(
    lambda first, second, function: Call(function, (first, second)),
    _single,
    _single,
    st.just(Function.OR),
)
_not = st.builds(lambda inner: Call(Function.NOT, (inner,)), _single)
_filters = st.builds(Filter, st.one_of(_single, _single, _single, _either, _not))
_ends = st.one_of(st.sampled_from(VARIABLES), st.sampled_from(VARIABLES), individuals)
_arcs = st.builds(
    Arc,
    _ends,
    st.one_of(properties, properties, properties, st.just(TYPE), st.sampled_from(VARIABLES)),
    st.one_of(_ends, _ends, st.sampled_from(LITERALS)),
)
_asked = st.one_of(classes, classes, st.sampled_from([OWL["Thing"], RDFS["Resource"], RDFS["Literal"], XSD["decimal"]]))


_rdf_12_arcs = st.builds(
    Arc, _ends, st.one_of(properties, st.sampled_from(VARIABLES)), st.sampled_from(RDF_12_CONSTANTS)
)
_rdf_12_asked = st.one_of(_asked, st.sampled_from([RDF["langString"], RDF["dirLangString"]]))


@st.composite
def patterns(draw: st.DrawFn, *, rdf_12: bool = False) -> GraphPattern:
    """Return a homomorphic pattern: a few arcs, classes on some vertices, filters on bound variables."""
    possible, asked = (st.one_of(_arcs, _arcs, _rdf_12_arcs), _rdf_12_asked) if rdf_12 else (_arcs, _asked)
    arcs = tuple(draw(st.lists(possible, max_size=4, unique=True)))
    terms = list(dict.fromkeys(term for arc in arcs for term in (arc.subject, arc.object))) or [VARIABLES[0]]
    vertices = tuple(
        Vertex(term, draw(st.frozensets(asked, max_size=1)) if arcs else frozenset({draw(asked)})) for term in terms
    )
    bound = {*terms, *(arc.property for arc in arcs)}
    filters = tuple(f for f in draw(st.lists(_filters, max_size=2)) if f.variables <= bound)
    return GraphPattern(vertices, arcs, filters)


@st.composite
def ops_patterns(draw: st.DrawFn) -> GraphPattern:
    """Return an injective pattern whose every vertex is reachable from the home vertex, as OPS demands."""
    terms: list = [HOME]
    arcs = []
    for _ in range(draw(st.integers(1, 4))):
        subject = draw(st.sampled_from([term for term in terms if not isinstance(term, Literal)]))
        object_ = draw(st.one_of(st.sampled_from(VARIABLES), st.sampled_from([*terms, *INDIVIDUALS, *LITERALS])))
        arcs.append(Arc(subject, draw(properties), object_))
        if object_ not in terms:
            terms.append(object_)
    vertices = tuple(Vertex(term, draw(st.frozensets(_asked, min_size=0, max_size=1))) for term in terms)
    filters = tuple(f for f in draw(st.lists(_filters, max_size=1)) if f.variables <= set(terms))
    return GraphPattern(vertices, tuple(dict.fromkeys(arcs)), filters, home=HOME, injective=True)
