"""MDV rules that extend other rules."""

import pytest

from ontosub.languages.mdv import parse, parse_rules
from ontosub.model.errors import LanguageError, LimitError
from ontosub.model.expression import Call, Function
from ontosub.model.pattern import Arc, GraphPattern, Vertex
from ontosub.model.subscription import Subscription
from ontosub.model.terms import BlankNode, Literal, Namespace, Variable

EX = Namespace("http://example.org/mdv#")
PREFIXES = {"": str(EX)}
R = Variable("r")
BIG = parse("search Server s, Site t register s where s.memory > 64 and s.site = t", id="Big", prefixes=PREFIXES)


def extend(text: str, **rules: Subscription) -> tuple[GraphPattern, ...]:
    return parse(text, prefixes=PREFIXES, rules=rules).patterns


@pytest.mark.parametrize("name", ["Big", "'Big'", '"Big"'])
def test_the_registered_variable_is_identified_and_the_others_are_renamed(name):
    (pattern,) = extend(f"search {name} r register r where r.memory < 128", Big=BIG)
    assert pattern.projection == (R,)
    classes = {vertex.term: vertex.classes for vertex in pattern.vertices}
    assert classes[R] == {EX["Server"]}
    assert classes[Variable("r·t")] == {EX["Site"]}
    assert {(arc.subject, arc.property) for arc in pattern.arcs} == {(R, EX["memory"]), (R, EX["site"])}
    # What the other rule calls s.memory is its own affair, so the memory is asked for twice.
    assert len(pattern.arcs) == 3
    assert len(pattern.filters) == 2


def test_a_rule_may_be_extended_twice():
    (pattern,) = extend("search Big a, Big b register b where a.next = b", Big=BIG)
    assert len(pattern.vertices) == 6
    assert len({vertex.term for vertex in pattern.vertices}) == 6
    assert Arc(Variable("a"), EX["next"], Variable("b")) in pattern.arcs


def test_alternatives_multiply():
    either = parse("search A a register a where a.x = 1 or a.x = 2", id="Either", prefixes=PREFIXES)
    patterns = extend("search Either a, Either b register a where a.y = 1 or b.y = 1", Either=either)
    assert len(patterns) == 8


def test_a_rule_comes_before_a_class_unless_a_prefix_says_class():
    assert len(extend("search Big r register r", Big=BIG)[0].arcs) == 2
    assert extend("search :Big r register r", Big=BIG)[0].vertices == (Vertex(R, frozenset({EX["Big"]})),)


def test_constants_and_identities_of_the_other_rule_survive():
    one = parse("search A a, B b register a where a = :one and a.x = :two and b = :two", id="One", prefixes=PREFIXES)
    (pattern,) = extend("search One r, C c register r where c.y = r and c.z = :two", One=one)
    assert {(arc.subject, arc.property, arc.object) for arc in pattern.arcs} == {
        (R, EX["x"], EX["two"]),
        (Variable("c"), EX["y"], R),
        (Variable("c"), EX["z"], EX["two"]),
    }
    assert [each.expression for each in pattern.filters] == [Call(Function.EQUAL, (R, EX["one"]))]


def test_positions_of_the_other_text_are_left_behind():
    (pattern,) = extend("search Big r register r", Big=BIG)
    assert not any(part.span for part in (*pattern.arcs, *pattern.filters))


def test_a_blank_vertex_of_another_subscription_is_renamed():
    pattern = GraphPattern(
        arcs=(Arc(R, EX["x"], BlankNode("b")), Arc(BlankNode("b"), EX["y"], Literal("z"))), projection=(R,)
    )
    (joined,) = extend("search Other q register q", Other=Subscription("Other", (pattern,)))
    assert {arc.object for arc in joined.arcs} == {Variable("q·b"), Literal("z")}


@pytest.mark.parametrize(
    "pattern",
    [
        GraphPattern((Vertex(R), Vertex(Variable("s")))),
        GraphPattern((Vertex(R),), projection=()),
        GraphPattern((Vertex(R),), injective=True),
        GraphPattern((Vertex(R),), home=R),
        GraphPattern((Vertex(R),), (Arc(R, Variable("p"), EX["a"]),), projection=(R,)),
    ],
)
def test_what_is_no_rule_is_not_extended(pattern):
    with pytest.raises(LanguageError, match="is not a rule that registers one variable") as caught:
        extend("search Other q register q", Other=Subscription("Other", (pattern,)))
    assert caught.value.column == 8


def test_rules_are_read_in_any_order():
    texts = {
        "RuleF": "search RuleE a, RuleC c register c where c.serverInformation = a",
        "RuleE": "search RuleA a, RuleB b register a where a = b",
        "RuleA": "search ServerInformation s register s where s.memory > 64",
        "RuleB": "search ServerInformation s register s where s.cpu > 500",
        "RuleC": "search CycleProvider c register c where c.serverHost contains 'uni-passau.de'",
    }
    rules = parse_rules(texts, prefixes=PREFIXES)
    assert list(rules) == list(texts)
    assert all(rules[name].id == name and rules[name].text == texts[name] for name in texts)
    assert rules == parse_rules(dict(reversed(texts.items())), prefixes=PREFIXES)
    (pattern,) = rules["RuleF"].patterns
    assert {vertex.term for vertex in pattern.vertices if vertex.classes} == {Variable("a"), Variable("c")}
    assert len(pattern.arcs) == 4


def test_a_long_chain_of_rules_is_read():
    texts = {f"R{n}": f"search R{n + 1} a register a where a.x{n} = 1" for n in range(300)}
    rules = parse_rules({**texts, "R300": "search A a register a"}, prefixes=PREFIXES)
    assert len(rules["R0"].patterns[0].filters) == 300


def test_a_cycle_is_named_where_it_starts():
    texts = {
        "Fine": "search A a register a",
        "X": "search Fine f,\n       Y y register y",
        "Y": "search 'Z' z register z",
        "Z": "search X x register x",
    }
    with pytest.raises(LanguageError, match="the rule extends itself") as caught:
        parse_rules(texts, prefixes=PREFIXES)
    cycle = caught.value.message.removeprefix("the rule extends itself: ").split(" → ")
    assert sorted(cycle[:-1]) == ["X", "Y", "Z"]
    assert cycle[0] == cycle[-1] == caught.value.diagnostic.source
    assert caught.value.diagnostic.offending in (cycle[1], f"'{cycle[1]}'")


def test_a_class_that_shares_the_rule_s_name_is_a_cycle_with_a_way_out():
    with pytest.raises(LanguageError, match="A → A") as caught:
        parse_rules({"A": "search A a register a"}, prefixes=PREFIXES)
    assert "write :A" in caught.value.hint
    assert parse_rules({"A": "search :A a register a"}, prefixes=PREFIXES)["A"].patterns


def test_errors_name_the_rule():
    with pytest.raises(LanguageError, match=r"^Bad, line 1, column 10: ") as caught:
        parse_rules({"Good": "search A a register a", "Bad": "search A register a"}, prefixes=PREFIXES)
    assert caught.value.diagnostic.source == "Bad"


def test_rules_that_double_at_every_step_are_limited():
    texts = {f"R{n}": f"search R{n + 1} a, R{n + 1} b register a where a.x = b" for n in range(40)}
    with pytest.raises(LimitError, match="more than 20,000"):
        parse_rules({**texts, "R40": "search A a register a"}, prefixes=PREFIXES)
