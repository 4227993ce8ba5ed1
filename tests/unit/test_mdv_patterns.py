"""MDV rules as graph patterns: which vertices are one, what becomes a filter, how alternatives multiply."""

from hashlib import sha256

import pytest

from ontosub.languages.mdv import parse
from ontosub.languages.mdv.compiler import LIMIT
from ontosub.model.errors import LanguageError, LimitError
from ontosub.model.expression import Call, Function
from ontosub.model.pattern import Arc, GraphPattern, Vertex
from ontosub.model.subscription import Subscription
from ontosub.model.terms import RDF, TYPE, XSD, Literal, Namespace, Variable

EX = Namespace("http://example.org/mdv#")
A, B, C, D = EX["A"], EX["B"], Variable("c"), Variable("d")
PREFIXES = {"": str(EX)}


def rule(text: str, **options) -> Subscription:
    return parse(text, prefixes=PREFIXES, **options)


def where(condition: str) -> GraphPattern:
    (pattern,) = rule(f"search A c, B d register c where {condition}").patterns
    return pattern


def expressions(pattern: GraphPattern):
    return [each.expression for each in pattern.filters]


def arcs(pattern: GraphPattern):
    return {(arc.subject, arc.property, arc.object) for arc in pattern.arcs}


def call(function: Function, *arguments) -> Call:
    return Call(function, arguments)


def text_of(term) -> Call:
    return call(Function.STR, term)


def number_of(term) -> Call:
    return call(Function.NUMBER, term)


def test_a_subscription_is_distinct_homomorphic_and_projects_what_it_registers():
    text = "search A c, B d register d where c.x = d"
    subscription = rule(text, id="r1")
    (pattern,) = subscription.patterns
    assert (subscription.id, subscription.distinct, subscription.residual) == ("r1", True, None)
    assert (subscription.language, subscription.text) == ("mdv", text)
    assert (pattern.projection, pattern.injective, pattern.home) == ((D,), False, None)
    assert pattern.vertices == (Vertex(C, frozenset({A})), Vertex(D, frozenset({B})))
    assert pattern.arcs == (Arc(C, EX["x"], D),)


def test_without_an_id_the_text_names_the_rule():
    text = "search A c register c"
    assert rule(text).id == f"mdv:{sha256(text.encode()).hexdigest()[:16]}"


def test_the_text_s_prefixes_win_over_those_given_and_those_over_the_well_known():
    text = "PREFIX : <urn:own:> search A c, b:B d, rdf:List e, xsd:int f register c"
    (pattern,) = parse(text, prefixes={"": "urn:given:", "b": "urn:b:", "xsd": "urn:mine:"}).patterns
    asked = [next(iter(vertex.classes)).value for vertex in pattern.vertices]
    assert asked == ["urn:own:A", "urn:b:B", RDF["List"].value, "urn:mine:int"]


def test_search_variables_that_nothing_connects_form_a_cross_product():
    (pattern,) = rule("search A c, B d register c").patterns
    assert len(pattern.vertices) == 2
    assert not pattern.arcs


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("c.x > 64", call(Function.GREATER, number_of(Variable("c·x")), Literal("64", datatype=XSD["integer"]))),
        ("64 < c.x", call(Function.GREATER, number_of(Variable("c·x")), Literal("64", datatype=XSD["integer"]))),
        (
            "1.5 >= c.x",
            call(Function.LESS_OR_EQUAL, number_of(Variable("c·x")), Literal("1.5", datatype=XSD["decimal"])),
        ),
        ("c.x != -1e3", call(Function.NOT_EQUAL, number_of(Variable("c·x")), Literal("-1e3", datatype=XSD["double"]))),
        ("c.x = 'a'", call(Function.EQUAL, text_of(Variable("c·x")), Literal("a"))),
        ("'a' < c.x", call(Function.GREATER, text_of(Variable("c·x")), Literal("a"))),
        ("c = 'urn:host'", call(Function.EQUAL, text_of(C), Literal("urn:host"))),
        ("c.x contains 'a'", call(Function.CONTAINS, text_of(Variable("c·x")), Literal("a"))),
        ("'abc' contains c.x", call(Function.CONTAINS, Literal("abc"), text_of(Variable("c·x")))),
        ("c.x contains 64", call(Function.CONTAINS, text_of(Variable("c·x")), Literal("64"))),
        ("c.x contains :a", call(Function.CONTAINS, text_of(Variable("c·x")), Literal(EX["a"].value))),
        ("c.x contains true", call(Function.CONTAINS, text_of(Variable("c·x")), Literal("true"))),
        ("c.x contains d.y", call(Function.CONTAINS, text_of(Variable("c·x")), text_of(Variable("d·y")))),
        ("c.x != :a", call(Function.NOT_EQUAL, Variable("c·x"), EX["a"])),
        ("c.x = d.y", call(Function.EQUAL, Variable("c·x"), Variable("d·y"))),
        ("c.x != d.y", call(Function.NOT_EQUAL, Variable("c·x"), Variable("d·y"))),
        ("c != d", call(Function.NOT_EQUAL, C, D)),
        ("c.x != d", call(Function.NOT_EQUAL, Variable("c·x"), D)),
        ("not c.x contains 'a'", call(Function.NOT, call(Function.CONTAINS, text_of(Variable("c·x")), Literal("a")))),
        ("not c.x <= 'a'", call(Function.GREATER, text_of(Variable("c·x")), Literal("a"))),
        ("not not c.x <= 'a'", call(Function.LESS_OR_EQUAL, text_of(Variable("c·x")), Literal("a"))),
    ],
)
def test_a_predicate_becomes_a_filter(condition, expected):
    assert expressions(where(condition)) == [expected]


def test_truth_values_have_two_spellings():
    value = text_of(Variable("c·x"))
    true = call(Function.OR, call(Function.EQUAL, value, Literal("true")), call(Function.EQUAL, value, Literal("1")))
    assert expressions(where("c.x = true")) == expressions(where("not true != c.x")) == [true]
    assert expressions(where("c.x != true")) == [call(Function.NOT, true)]


def test_order_between_paths_tries_numbers_before_values():
    (expression,) = expressions(where("c.x < d.y"))
    x, y = Variable("c·x"), Variable("d·y")
    numbers, values = expression.arguments
    assert expression.function is Function.OR
    assert numbers == call(Function.LESS, number_of(x), number_of(y))
    assert values.arguments[1] == call(Function.LESS, x, y)


def test_equal_plain_paths_are_one_vertex():
    pattern = where("c.x.y > 1 and c.x.y < 5 and c.x.z = 3")
    x, y, z = Variable("c·x"), Variable("c·y"), Variable("c·z")
    assert arcs(pattern) == {(C, EX["x"], x), (x, EX["y"], y), (x, EX["z"], z)}


def test_each_any_step_is_its_own_vertex():
    pattern = where("c.x?.y > 1 and c.x?.y < 5 and c.x.y = 3")
    assert len(pattern.arcs) == 6
    assert sum(arc.subject == C for arc in pattern.arcs) == 3


def test_alternatives_do_not_share_vertices_with_each_other():
    first, second = rule("search A c register c where c.x = 1 or c.x = 2").patterns
    assert first.arcs == second.arcs
    assert first.filters != second.filters


def test_names_that_look_alike_stay_apart():
    pattern = where("c.x = 1 and c.<urn:other#x> = 2 and c.a-b = 3 and c.a_b = 4")
    assert len({arc.object for arc in pattern.arcs}) == 4


@pytest.mark.parametrize("condition", ["c.x = d and d.y > 1", "d.y > 1 and d = c.x", "c.x.y > 1 and c.x = d"])
def test_a_search_variable_is_the_vertex_that_it_equals(condition):
    pattern = where(condition)
    (y,) = (arc.object for arc in pattern.arcs if arc.property == EX["y"])
    assert arcs(pattern) == {(C, EX["x"], D), (D, EX["y"], y)}
    assert expressions(pattern) == [call(Function.GREATER, number_of(y), Literal(1))]


def test_equal_vertices_have_equal_plain_paths_but_not_equal_any_paths():
    assert len(where("c.x = d and c.x.y.z > 1 and d.y.z < 5").arcs) == 3
    assert len(where("c.x = d and c.x.y? > 1 and d.y? < 5").arcs) == 3
    assert len(where("c.x = d and c.x.y > 1 and d.y < 5").arcs) == 2


def test_two_variables_that_equal_one_value_are_equal():
    (pattern,) = rule("search A c, B d, :E e register d where c.x = d and c.x = e and e.y = 1").patterns
    assert {vertex.term: vertex.classes for vertex in pattern.vertices}[D] == {B, EX["E"]}
    assert (D, EX["y"]) in {(arc.subject, arc.property) for arc in pattern.arcs}


@pytest.mark.parametrize("condition", ["c = d", "d = c"])
@pytest.mark.parametrize("registered", [C, D])
def test_the_registered_variable_keeps_its_name_and_gets_all_classes(condition, registered):
    text = f"search A c, B d register {registered.value} where {condition} and c.x = 1 and d.x != 2"
    (pattern,) = rule(text).patterns
    assert pattern.vertices[0] == Vertex(registered, frozenset({A, B}))
    assert len(pattern.arcs) == 1
    assert pattern.arcs[0].subject == registered
    assert all(each.variables == {pattern.arcs[0].object} for each in pattern.filters)


def test_a_loop_is_a_loop():
    assert arcs(where("c.x = c")) == {(C, EX["x"], C)}


@pytest.mark.parametrize("condition", ["c.x = :a", ":a = c.x", "c.x = <http://example.org/mdv#a>", "c.x? = :a"])
def test_a_path_that_equals_a_resource_ends_in_it(condition):
    pattern = where(condition)
    assert arcs(pattern) == {(C, EX["x"], EX["a"])}
    assert not pattern.filters


def test_a_search_variable_that_equals_a_resource_is_it_unless_it_is_registered():
    pattern = where("d = :a and c = :b")
    assert [vertex.term for vertex in pattern.vertices] == [C, EX["a"]]
    assert expressions(pattern) == [call(Function.EQUAL, C, EX["b"])]


def test_every_filter_mentions_a_variable():
    pattern = where("c.x = :a and c.x = :b and c.y = :e and c.y != :f and d = :g and d contains 'g'")
    assert all(each.variables for each in pattern.filters)
    x, y = Variable("c·x"), Variable("c·y")
    identities = {(x, EX["a"]), (x, EX["b"]), (y, EX["e"]), (D, EX["g"])}
    assert {each.arguments for each in expressions(pattern) if each.function is Function.EQUAL} == identities


def test_paths_through_one_resource_are_one():
    assert len(where("c.x = :a and d.y = :a and c.x.z > 1 and d.y.z < 2").arcs) == 3


def test_a_type_that_is_asked_for_is_a_class():
    pattern = where("c.rdf:type = :X and c.x.rdf:type = :Y")
    assert {vertex.term: vertex.classes for vertex in pattern.vertices} == {
        C: {A, EX["X"]},
        D: {B},
        Variable("c·x"): {EX["Y"]},
    }
    assert TYPE not in {arc.property for arc in pattern.arcs}


def test_or_makes_patterns():
    patterns = rule("search A c register c where (c.x = 1 or c.y = 1) and (c.z = 1 or c.z = 2)").patterns
    assert len(patterns) == 4
    assert all(len(pattern.filters) == 2 for pattern in patterns)


def test_equal_alternatives_are_given_once():
    assert len(rule("search A c register c where c.x = 1 or c.x = 1").patterns) == 1


def test_negation_follows_de_morgan():
    negated = rule("search A c register c where not (c.x < 1 or c.y = 'a' and c.z != 2)")
    spelled = rule("search A c register c where c.x >= 1 and (c.y != 'a' or c.z = 2)")
    assert negated.patterns == spelled.patterns


def test_alternatives_are_limited_before_they_are_expanded():
    many = " or ".join(f"c.x = {n}" for n in range(LIMIT.alternatives))
    assert len(rule(f"search A c register c where {many}").patterns) == LIMIT.alternatives
    with pytest.raises(LimitError, match="more than 256 alternatives"):
        rule(f"search A c register c where {many} or c.x = 'one more'")
    exponential = " and ".join(f"(c.x{n} = 1 or c.y{n} = 1)" for n in range(5_000))
    with pytest.raises(LimitError, match="more than 256 alternatives"):
        rule(f"search A c register c where {exponential}")
    with pytest.raises(LimitError, match="more than 256 alternatives"):
        rule(f"search A c register c where not ({exponential.replace('or', 'and').replace(') and (', ') or (')})")


def test_the_size_of_all_alternatives_is_limited():
    long = " and ".join(f"c.x{n}.y = 1" for n in range(1_000))
    assert len(rule(f"search A c register c where {long}").patterns[0].arcs) == 2_000
    wide = " or ".join(f"c.z = {n}" for n in range(50))
    with pytest.raises(LimitError, match="more than 20,000"):
        rule(f"search A c register c where {long} and ({wide})")


def test_spans_point_to_what_was_written():
    text = "search A c register c\nwhere c.x.y > 1"
    (pattern,) = rule(text).patterns
    assert (pattern.vertices[0].span.column, pattern.vertices[0].span.end_column) == (8, 11)
    assert [(arc.span.line, arc.span.column) for arc in pattern.arcs] == [(2, 9), (2, 11)]
    assert (pattern.filters[0].span.column, pattern.filters[0].span.end_column) == (7, 16)


def test_an_invalid_namespace_is_refused_where_it_is_used():
    with pytest.raises(LanguageError, match="is not an IRI") as caught:
        parse("PREFIX : <no-scheme/> search A c register c")
    assert caught.value.column == 30
