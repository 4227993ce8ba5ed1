"""OPS's statement patterns: what they mean, what is refused, and that printing keeps them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontosub.languages import digest_id, parse
from ontosub.languages.ops import print_pattern, to_text
from ontosub.model import Arc, Call, Filter, Function, GraphPattern, Span, Subscription, Vertex
from ontosub.model.errors import LanguageError, LimitError, UsageError
from ontosub.model.terms import HOME, RDF, RDFS, XSD, Literal, NamedNode, Variable

AUCTION = """
PREFIX : <http://e/>   # the auction
(_:H, ?2, (:Selling, :price, :MoneyValue))

(?2, ?3,
    (:MoneyValue, rdf:value, xsd:decimal), ?3 < 400.00 && ?3 != 7)
"""


def iri(name: str) -> NamedNode:
    return NamedNode(f"http://e/{name}")


def classes(*names: NamedNode) -> frozenset[NamedNode]:
    return frozenset(names)


def read(text: str) -> Subscription:
    return parse("PREFIX : <http://e/>\n" + text, "ops", id="x")


def test_statement_patterns_make_one_injective_pattern_from_home() -> None:
    two, three = Variable("2"), Variable("3")
    subscription = parse(AUCTION, "ops")
    assert subscription.id == digest_id(AUCTION, "ops")
    assert subscription.patterns == (
        GraphPattern(
            vertices=(
                Vertex(HOME, classes(iri("Selling"))),
                Vertex(two, classes(iri("MoneyValue"))),
                Vertex(three, classes(XSD["decimal"])),
            ),
            arcs=(Arc(HOME, iri("price"), two), Arc(two, RDF["value"], three)),
            filters=(
                Filter(Call(Function.LESS, (three, Literal("400.00", datatype=XSD["decimal"])))),
                Filter(Call(Function.NOT_EQUAL, (three, Literal(7)))),
            ),
            home=HOME,
            injective=True,
            projection=None,
        ),
    )
    assert (subscription.residual, subscription.distinct, subscription.template) == (None, False, ())
    assert subscription.patterns[0].filters[0].span == Span(6, 44, 6, 55)
    assert subscription.patterns[0].arcs[1].span == Span(5, 1, 6, 67)


def test_a_vertex_has_all_the_classes_it_is_given_and_an_arc_counts_once() -> None:
    (found,) = read("(_:H, ?1, (:A, :p, :B)) (_:H, ?1, (:C, :p, :D)) (?1, _:H, (:B, :q, :A))").patterns
    assert found.vertices == (
        Vertex(HOME, classes(iri("A"), iri("C"))),
        Vertex(Variable("1"), classes(iri("B"), iri("D"))),
    )
    assert found.arcs == (Arc(HOME, iri("p"), Variable("1")), Arc(Variable("1"), iri("q"), HOME))


def test_constants_are_vertices() -> None:
    (found,) = read(
        "(_:H, :usd, (:A, :p, :Unit)) (:usd, 'x'@en, (:Unit, :q, rdfs:Literal)) (_:H, -5, (:A, :r, xsd:int))"
    ).patterns
    assert [vertex.term for vertex in found.vertices] == [HOME, iri("usd"), Literal("x", language="en"), Literal(-5)]


def test_prefixes_of_the_text_win_over_given_and_given_over_well_known() -> None:
    given_prefixes = {"": "http://given/", "owl": "http://mine/"}
    subscription = parse("PREFIX : <http://own/> (_:H, ?1, (:A, owl:p, rdfs:Literal))", "ops", prefixes=given_prefixes)
    (found,) = subscription.patterns
    assert found.arcs[0].property == NamedNode("http://mine/p")
    assert found.vertices == (
        Vertex(HOME, classes(NamedNode("http://own/A"))),
        Vertex(Variable("1"), classes(RDFS["Literal"])),
    )


REFUSED = [
    ("", ">", "ends too early", "a statement pattern such as"),
    ("(?1, ?2, (:A, :p, :B))", "(?1, ?2, (:A, :p, :B))", "no statement pattern has the subject _:H", "_:H"),
    ("(_:H, ?2, (:A, :p, :B))\n(?5, ?6, (:A, :p, :B))", "?5", "?5 cannot be reached from _:H", "object"),
    ("(_:H, ?2, (:A, :p, :B), ?2 > 3)", "?2 > 3", "filter on a non-literal: ?2", "datatype"),
    ("(_:H, ?2, (:A, :p, xsd:int))\n(_:H, ?2, (:A, :q, :B), ?2 > 3)", "?2 > 3", "filter on a non-literal", "http://e/B"),
    ("(_:H, ?2, (:A, :p, xsd:int), ?4 > 3)", "?4 > 3", "mentions ?4", "?2"),
    ("(_:H, ?2, (:A, :p, xsd:int), 3 > 2)", "3 > 2", "mentions no variable", "object"),
    ("(_:x, ?2, (:A, :p, :B))", "_:x", "blank node _:x", "variable"),
    ("(_:H, _:x, (:A, :p, :B))", "_:x", "blank node _:x", "variable"),
    ("(_:H, [], (:A, :p, :B))", "[]", "blank node []", "variable"),
    ("('x', ?1, (:A, :p, :B))", "'x'", "a literal cannot be a subject", "_:H"),
    ("(_:H, ?2, (so:A, :p, :B))", "so:A", 'prefix "so" is not declared', "PREFIX so:"),
    ("(_:H, 'a'^^xsd:int, (:A, :p, xsd:int))", "'a'^^xsd:int", "ill-typed", "42"),
    ("(_:H, ?2, (:A, ?p, :B))", "?p", 'unexpected "?p"', "the property, an IRI"),
    ("(_:H, ?2 (:A, :p, :B))", "(", 'unexpected "("', "meta-statement"),
    ("(_:H, ?2, (:A, :p, xsd:int), )", ")", 'unexpected ")"', "filter"),
    ("(_:H, ?2, (:A, :p, xsd:int), ?2 > )", ">", "ends too early", "a literal"),
    ("(_:H, ?2, (:A, :p, xsd:int), ?2 > 3 4)", "4", 'unexpected "4"', "operator"),
    ("(_:H, ?2, (:A, :p, xsd:int)", ")", "ends too early", "closing bracket"),
    ("(_:H, ?2, (:A, :p, xsd:int), rand() < ?2)", "rand() < ?2", "cannot be asked", "SPARQL"),
    ("(_:H, ?2, (:A, :p, xsd:string), regex(?2, '(a'))", "'(a'", "invalid regular expression", "brackets"),
    ("(_:H, ?2, (:A, :p, xsd:string)) nonsense", "nonsense", 'unexpected "nonsense"', "statement pattern"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "offending", "message", "advice"), REFUSED, ids=[case[0] for case in REFUSED])
def test_a_refused_pattern_says_where_and_why(text: str, offending: str, message: str, advice: str) -> None:
    with pytest.raises(LanguageError) as caught:
        read(text)
    error = caught.value
    assert message in error.message
    assert error.diagnostic.offending == offending
    assert error.hint is not None
    assert advice in error.hint
    assert error.hint.endswith(".")


def test_a_filter_may_be_about_objects_of_other_statements_and_top_classes() -> None:
    (found,) = read("(_:H, ?1, (:A, :p, xsd:int)) (_:H, ?2, (:A, :q, owl:Thing), ?1 + 1 < ?2)").patterns
    assert found.filters[0].variables == {Variable("1"), Variable("2")}


def test_deep_filters_are_refused() -> None:
    with pytest.raises(LimitError):
        read("(_:H, ?1, (:A, :p, xsd:int), " + "(" * 200 + "?1" + ")" * 200 + ")")


def test_what_ops_cannot_express_is_not_printed() -> None:
    for text in ("ASK { ?x ?y ?z }", "SELECT DISTINCT ?x { ?x a ?y }", "ASK { ?x ?y ?z } LIMIT 1"):
        with pytest.raises(UsageError):
            to_text(parse(text, "sparql"))
    with pytest.raises(UsageError):
        print_pattern(GraphPattern(arcs=(Arc(HOME, iri("p"), Variable("x")),), home=HOME, injective=True))


def test_an_unknown_language_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="sparql, ops, mdv"):
        parse("", "prolog")


literal_classes = st.sampled_from(["xsd:int", "xsd:string", "rdfs:Literal", "owl:Thing"])
class_names = st.sampled_from([":A", ":B", ":C", "owl:Thing"])
filters = st.sampled_from(
    [
        "{} < 400.00",
        "regex({}, '^a\\\\.b', 'i')",
        "{} IN (1, 'x', :a) || {} = 2",
        "!({} = 1) && {} > -2 * 3",
        "-{} + 1 = 2",
    ]
)


@st.composite
def statement_texts(draw: st.DrawFn) -> str:
    """Return statement patterns: a tree from home whose leaves are literals, with some arcs and classes more."""
    lines, inner, leaves = [], ["_:H"], []
    for number in range(draw(st.integers(1, 6))):
        subject = draw(st.sampled_from(inner))
        kind = draw(st.sampled_from(["inner", "leaf", "constant", "again"]))
        known = [each for each in inner if each != subject]
        if kind == "again" and known:
            target, object_class = draw(st.sampled_from(known)), draw(class_names)
        elif kind == "leaf":
            target, object_class = f"?{number}", draw(literal_classes)
            leaves.append(target)
        elif kind == "constant":
            target, object_class = draw(st.sampled_from(["'x'@en", "7", ":k", "'1'^^xsd:int", "true"])), "owl:Thing"
        else:
            target, object_class = f"?v{number}", draw(class_names)
            inner.append(target)
        chosen = [
            draw(filters).replace("{}", draw(st.sampled_from(leaves))) for _ in range(draw(st.integers(0, 2))) if leaves
        ]
        condition = f", {' && '.join(f'({each})' for each in chosen)}" if chosen else ""
        property_ = draw(st.sampled_from([":p", ":q", "rdf:value"]))
        lines.append(f"({subject}, {target}, ({draw(class_names)}, {property_}, {object_class}){condition})")
    if all(not line.startswith("(_:H") for line in lines):
        lines.append("(_:H, ?end, (:A, :p, :B))")
    return draw(st.sampled_from(["\n", " ", "\n# comment\n"])).join(lines)


@settings(max_examples=150, deadline=None)
@given(statement_texts())
def test_a_printed_pattern_is_read_as_the_same_pattern(text: str) -> None:
    subscription = read(text)
    assert parse(to_text(subscription), "ops", id="x") == subscription
