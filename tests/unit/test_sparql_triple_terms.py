"""Triple terms, reified triples and annotations in queries: what they stand for, and what they are answered with."""

from __future__ import annotations

from collections import Counter

import pytest

from ontosub import Event, Matcher, Ontology, Subscription
from ontosub.languages.sparql import parse_query, read_in_full
from ontosub.languages.sparql.cache import Cache
from ontosub.languages.sparql.syntax import Builtin, Occurrence, Operation, TriplePattern, TripleTerm, walk
from ontosub.model import TemplateTriple
from ontosub.model.terms import RDF, XSD, BlankNode, Literal, NamedNode, Triple, Variable

# One worker compiles the kernels for all of these tests.
pytestmark = pytest.mark.xdist_group("compiled")

PREFIX = "PREFIX : <http://e/> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>\n"
A, B, P, Q = (NamedNode(f"http://e/{name}") for name in "abpq")
EVENT = """
PREFIX : <http://e/>
:a :p 3.50 ~ :r {| :by :anna ; :on "x"@ar--rtl |} .
:a :q <<( :b :p <<( :c :p "07"^^<http://www.w3.org/2001/XMLSchema#int> )>> )>> .
<< :b :p _:n >> :by :otto . _:n :q 1 .
"""


def triples(text: str) -> Counter[TriplePattern]:
    return Counter(node for node in walk(parse_query(f"{PREFIX}ASK {{ {text} }}")) if isinstance(node, TriplePattern))


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("<< ?a :p ?b ~ ?r >>", "?r rdf:reifies <<( ?a :p ?b )>>"),
        ("<< ?a :p ?b >> :q 1", "_:anon1 rdf:reifies <<( ?a :p ?b )>> ; :q 1"),
        ("<< ?a :p ?b ~ >> :q 1", "_:anon1 rdf:reifies <<( ?a :p ?b )>> ; :q 1"),
        ("?x :q << :a a 1 ~ :r >>", "?x :q :r . :r rdf:reifies <<( :a a 1 )>>"),
        ("?a :p ?b ~ ?r", "?a :p ?b . ?r rdf:reifies <<( ?a :p ?b )>>"),
        ("?a :p ?b {| :q 1 ; :r 2 |}", "?a :p ?b . _:anon1 rdf:reifies <<( ?a :p ?b )>> ; :q 1 ; :r 2"),
        ("?a :p ?b ~ ?r {| :q 1 |}", "?a :p ?b . ?r rdf:reifies <<( ?a :p ?b )>> ; :q 1"),
        (
            "?a :p ?b ~ ?r ~ ?s {| :q 1 |} {| :q 2 |}",
            "?a :p ?b . ?r rdf:reifies <<( ?a :p ?b )>> . ?s rdf:reifies <<( ?a :p ?b )>> ; :q 1 ."
            "_:anon1 rdf:reifies <<( ?a :p ?b )>> ; :q 2",
        ),
        (
            "?a :p ?b ~ ?r {| :q 1 ~ ?s |}",
            "?a :p ?b . ?r rdf:reifies <<( ?a :p ?b )>> ; :q 1 . ?s rdf:reifies <<( ?r :q 1 )>>",
        ),
        (
            "<< << ?a :p ?b ~ ?r >> :q ?c ~ ?s >>",
            "?r rdf:reifies <<( ?a :p ?b )>> . ?s rdf:reifies <<( ?r :q ?c )>>",
        ),
        ("?a :p ?b ~ ?r , ?c ~ ?s", "?a :p ?b ~ ?r . ?a :p ?c ~ ?s"),
        ("[] :p ?b ~ ?r", "_:anon1 :p ?b . ?r rdf:reifies <<( _:anon1 :p ?b )>>"),
    ],
)
def test_abbreviations_are_written_out(short: str, long: str) -> None:
    assert triples(short) == triples(long)


def test_a_triple_term_is_a_constant_unless_it_holds_variables_or_blank_nodes() -> None:
    (constant,) = triples("?x :q <<(:a:p<<(:b a'x'@ar--ltr)>>)>>".replace(":a:p", ":a :p"))
    assert constant.object.term == Triple(A, P, Triple(B, RDF["type"], parse_literal("'x'@ar--ltr")))
    for open_ in ("<<( ?x :p 1 )>>", "<<( :a ?p 1 )>>", "<<( :a :p [] )>>", "<<( :a :p <<( :b :p _:n )>> )>>"):
        (pattern,) = triples(f"?x :q {open_}")
        assert isinstance(pattern.object.term, TripleTerm)


def parse_literal(text: str) -> Literal:
    (pattern,) = triples(f"?x :q {text}")
    assert isinstance(pattern.object.term, Literal)
    return pattern.object.term


def test_an_expression_makes_a_triple_term_as_a_function_does() -> None:
    short, long = (
        parse_query(f"{PREFIX}SELECT * {{ ?a :p ?b BIND({written} AS ?t) }}")
        for written in ("<<( ?a :p <<( :a ?b 1 )>> )>>", "TRIPLE(?a, :p, TRIPLE(:a, ?b, 1))")
    )
    assert short == long
    (constant,) = [n for n in walk(parse_query(f"{PREFIX}ASK {{ FILTER(<<( :a :p :b )>> = ?t) }}")) if is_triple(n)]
    assert constant == Occurrence(Triple(A, P, B))
    assert not [node for node in walk(short) if isinstance(node, TripleTerm)]
    assert len([node for node in walk(short) if isinstance(node, Builtin)]) == 2


def is_triple(node: object) -> bool:
    return isinstance(node, Occurrence) and isinstance(node.term, Triple)


def test_tokens_without_space_between_them() -> None:
    assert triples("<<?a?b?c>>:p?d") == triples("<< ?a ?b ?c >> :p ?d")
    assert triples("?x ?y <<(?a?b<<(:a :b 1)>>)>>") == triples("?x ?y <<( ?a ?b <<( :a :b 1 )>> )>>")
    assert triples("?a:p?b~?r{|:q 1|}") == triples("?a :p ?b ~ ?r {| :q 1 |}")
    (less,) = [n for n in walk(parse_query("ASK { FILTER(?o<<urn:x>) }")) if isinstance(n, Operation)]
    assert less == Operation("<", (Occurrence(Variable("o")), Occurrence(NamedNode("urn:x"))))


def test_the_index_has_constants_and_leaves_variables_inside_to_the_residual() -> None:
    exact = read_in_full(f"{PREFIX}SELECT ?x {{ ?x :q <<( :a :p 1 )>> }}", "x")
    assert exact.residual is None
    (arc,) = exact.patterns[0].arcs
    assert arc.object == Triple(A, P, Literal(1))
    left = read_in_full(f"{PREFIX}SELECT ?x {{ ?x :q <<( :a :p ?y )>> ; :p ?z }}", "x")
    assert left.residual is not None
    assert not left.core_decides
    assert [arc.property for arc in left.patterns[0].arcs] == [P]


@pytest.mark.parametrize("algorithm", ["naive", "compiled"])
@pytest.mark.parametrize(
    ("query", "answers"),
    [
        ("SELECT ?x { ?x rdf:reifies <<( :a :p 3.50 )>> }", [{"x": "r"}]),
        ("SELECT ?x { ?x rdf:reifies <<( :a :p 3.5 )>> }", []),
        ("SELECT ?who { :a :p ?y {| :by ?who |} }", [{"who": "anna"}]),
        ("SELECT ?who { << ?s :p ?y >> :by ?who . ?y :q 1 }", [{"who": "otto"}]),
        ("SELECT ?who { ?s :p ?y {| :by ?who |} . ?y :q 1 }", []),
        ("SELECT ?x { ?x :q <<( ?b :p <<( ?c ?p '07'^^<http://www.w3.org/2001/XMLSchema#int> )>> )>> }", [{"x": "a"}]),
        ("SELECT ?v { ?x :q <<( ?b :p <<( ?c ?p ?v )>> )>> }", [{"v": Literal("07", datatype=XSD["int"])}]),
        (
            "SELECT ?t { ?x rdf:reifies ?t OPTIONAL { ?x :by ?who } FILTER(?who = :anna) }",
            [{"t": Triple(A, P, Literal("3.50", datatype=XSD["decimal"]))}],
        ),
        ("SELECT ?t { ?x :on ?d ; rdf:reifies ?t }", [{"t": Triple(A, P, Literal("3.50", datatype=XSD["decimal"]))}]),
        ("SELECT ?x { ?x :on 'x'@ar--rtl }", [{"x": "r"}]),
        ("SELECT ?x { ?x :on 'x'@ar }", []),
        ("SELECT ?x { ?x :on ?d . ?d a rdf:dirLangString }", [{"x": "r"}]),
        ("SELECT ?x { ?x :on ?d . ?d a rdf:langString }", []),
        ("SELECT ?x { VALUES ?t { <<( :a :p 3.50 )>> } ?x rdf:reifies ?t }", [{"x": "r"}]),
    ],
)
def test_answers(algorithm: str, query: str, answers: list[dict[str, object]]) -> None:
    matcher = Matcher(Ontology.read(), algorithm=algorithm)
    matcher.subscribe(Subscription.parse(PREFIX + query, id="s"))
    event = Event.read(EVENT, "text/turtle", id="e")
    expected = [
        {n: NamedNode(f"http://e/{v}") if isinstance(v, str) else v for n, v in each.items()} for each in answers
    ]
    assert [dict(binding) for match in matcher.match(event) for binding in match.bindings] == expected
    assert matcher.match_ids(event) == ["s"] * bool(answers)


def named(value: object) -> object:
    return NamedNode(f"http://e/{value}") if isinstance(value, str) else value


@pytest.mark.parametrize("rest", ["", "OPTIONAL { ?x :none ?y }"])
def test_a_template_makes_triple_terms(rest: str) -> None:
    text = (
        f"{PREFIX}CONSTRUCT {{ ?x :q <<( ?x :p <<( _:n :p ?d )>> )>> . ?x :q <<( ?d :p 1 )>> }} {{ ?x :on ?d {rest} }}"
    )
    subscription = Subscription.parse(text, id="s")
    x, d = Variable("x"), Variable("d")
    made = TemplateTriple(x, P, TemplateTriple(BlankNode("n"), P, d))
    assert subscription.template[0] == TemplateTriple(x, Q, made)
    matcher = Matcher(Ontology.read())
    matcher.subscribe(subscription)
    (match,) = matcher.match(Event.read(EVENT, "text/turtle", id="e"))
    assert match.graph is not None
    # No triple, and no triple term, has a literal as its subject.
    (triple,) = match.graph
    r = NamedNode("http://e/r")
    inner = triple.object.object
    assert (triple.subject, triple.predicate, triple.object.subject, triple.object.predicate) == (r, Q, r, P)
    assert isinstance(inner.subject, BlankNode)
    assert inner.object == parse_literal("'x'@ar--rtl")


@pytest.mark.parametrize(
    "shape",
    [
        "SELECT ?x {{ ?x :q <<( :{0} :p <<( :b :p {1} )>> )>> }}",
        "SELECT ?x {{ ?x :q <<( :{0} :p <<( ?b :p {1} )>> )>> ; :p {1} }}",
        "CONSTRUCT {{ ?x :q <<( ?x :{0} {1} )>> , <<( :{0} :p {1} )>> }} WHERE {{ ?x :p <<( :{0} :p {1} )>> }}",
        "SELECT ?x {{ ?x :p ?t VALUES ?t {{ <<( :{0} :p {1} )>> }} }}",
        "VERSION '1.2' ASK {{ ?x :p :{0} ~ :{0} {{| :q {1} |}} }}",
    ],
)
def test_similar_texts_share_a_template(shape: str) -> None:
    cache = Cache()
    for number, constant in enumerate(["a", "b", "c", "d"]):
        text = PREFIX + shape.format(constant, f"'{number}'@ar--rtl" if "'" in shape else number)
        assert cache.subscription(text, "s") == read_in_full(text, "s")
    assert cache.hits == 2
