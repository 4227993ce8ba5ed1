"""The language of composite subscriptions: what is read, what is refused and where, and that printing is undone."""

import re
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import RdfFormat, parse
from watching import NAMES, composite

from composite_generators import Drawing, patterns
from ontosub import Composite, Ontology, Subscription, on
from ontosub.languages.composite import from_graph, graphs, inline, parse_all, parse_each, to_graph, to_text, vocabulary
from ontosub.languages.composite.durations import duration_text, parse_duration
from ontosub.languages.composite.graphs import Writing
from ontosub.languages.composite.tokens import TEXT_MAX
from ontosub.languages.prologue import Fault
from ontosub.model.composite import (
    Aggregate,
    AggregateFunction,
    Conjunction,
    Disjunction,
    Exclusion,
    Iteration,
    Negation,
    Policy,
    Primitive,
    Restriction,
    Sequence,
)
from ontosub.model.composite import Composite as Value
from ontosub.model.errors import FormatError, LanguageError, LimitError, UsageError
from ontosub.model.expression import Call, Function
from ontosub.model.pattern import Filter
from ontosub.model.relation import Relation
from ontosub.model.terms import Literal, Triple, Variable

UNBOUND = Filter(Call(Function.GREATER, (Variable("y"), Literal(1))))
KNOWN = {name: Subscription.parse("SELECT ?x ?v { ?e <urn:x> ?x ; <urn:v> ?v }", id=name) for name in ("a", "b", "c")}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a & b", "a and b"),
        ("a && b", "a and b"),
        ("a | b", "a or b"),
        ("a || b", "a parallel b"),
        ("a = b", "a equals b"),
        ("a contains b", "a includes b"),
        ("(a and b)_10min", "a and b within 10 min"),
        ("(a and b) within PT10M", "a and b within 10 min"),
        ("(-a)_5s", "not a within 5s"),
        ("(a - b)_5s", "a and not b within 5s"),
        ("a^3", "a times 3"),
        ("(a^*)_5s", "a times * within 5s"),
        ("A BEFORE b WITHIN 1 h 30 min".replace("A", "a", 1), "a before b within 90 min"),
        ("a and b or c", "(a and b) or c"),
        ("a or b and c", "a or (b and c)"),
        ("a before b and c", "(a before b) and c"),
        ("a before b before c within 5s", "(a before b before c) within 5s"),
        ("a and b before c within 5s", "a and (b before c within 5s)"),
        ("a before (b and c) within 5s", "a before (b and c within 5s)"),
        ("a before (b and c) where 1 < 2 reuse", "a before (b and c where 1 < 2 reuse)"),
        ("a before (b and c)_5s reuse before d-1 within 9s", "a before (b and c within 5s reuse) before d-1 within 9s"),
        ("a before (b) within 5s", "a before (b within 5s)"),
        ("a before ((b and c)) within 5s", "a before (((b and c)) within 5s)"),
        ("a before b(?x) within 5s", "(a before b(?x)) within 5s"),
        ("a and (b or c) times 2 within 5s", "a and ((b or c) times 2 within 5s)"),
        ("(a and b) times 2 reuse", "((a and b) times 2) reuse"),
        ("a and (b times 2) reuse", "a and (b times 2 reuse)"),
        ("(not (a or b)) within 5s", "(not (a or b))_5s"),
        ("(a - (b or c)) within 5s", "(a and not (b or c))_5s"),
        ("a before b within 5s and c within 9s", "(a before b within 5s) and c within 9s"),
        ("a and b and not c within 5s", "(a and b) and not c within 5s"),
        ('"a" and b # a comment', "a and b"),
        ("a(?x)and b(?x)where(?x>1)", "a(?x) and b(?x) where ?x > 1"),
    ],
)
def test_what_is_written_in_different_ways_is_the_same(written, meant):
    assert composite(written).pattern == composite(meant).pattern


def test_operators_have_what_is_said_of_them():
    pattern = composite("a(?x) before b(?x, ?v) before c(?x) within 10 min where ?v > 3 reuse").pattern
    assert isinstance(pattern, Sequence)
    assert (pattern.relation, len(pattern.operands), pattern.policy) == (Relation.BEFORE, 3, Policy.REUSE)
    assert pattern.window == timedelta(minutes=10)
    assert len(pattern.where) == 1
    assert isinstance(composite("(a before b within 5s) within 3s").pattern, Restriction)
    assert isinstance(composite("((a before b)) within 3s").pattern, Restriction)
    assert isinstance(composite("a within 3s or b").pattern, Disjunction)


def test_a_policy_for_all_operators_that_say_none():
    pattern = composite("(a and b consume) before c", policy="reuse").pattern
    assert (pattern.policy, pattern.operands[0].policy) == (Policy.REUSE, Policy.CONSUME)


def test_inline_subscriptions_come_with_the_composite():
    query = "PREFIX : <urn:> sparql { SELECT ?x { ?e :x ?x FILTER(?x != '}') } }"
    text = f"{query} before ops {{ (_:H, ?x, (:E, :x, owl:Thing)) }}"
    found = Composite.parse(text, id="c")
    assert [each.language for each in found.subscriptions] == ["sparql", "ops"]
    assert found.subscription_ids == {each.id for each in found.subscriptions}
    again = Composite.parse(f"{query} within 5s", id="d")
    assert again.subscription_ids < found.subscription_ids
    rule = "PREFIX : <urn:> mdv { search :Alarm r register r where r.level > 3 } times 3"
    assert Composite.parse(rule, id="e").subscriptions[0].language == "mdv"


def test_a_query_with_a_residual_has_its_projected_variables():
    query = "sparql { SELECT ?x (?v + 1 AS ?more) { ?e <urn:x> ?x OPTIONAL { ?e <urn:v> ?v } } }"
    assert Composite.parse(f"{query} where ?more > 1", id="c").pattern.where


REFUSED = [
    ("not a", (1, 1), '"not" needs a window', "within 10 min"),
    ("b or\n  a and not b", (2, 5), '"and not" needs a window', "within 10 min"),
    ("not (a or b) within 5s", (1, 1), '"not" needs a window', "(not (B or C)) within 10 min"),
    ("a and not (b or c) within 5s", (1, 3), '"and not" needs a window', "(A and not (B or C)) within 10 min"),
    ("(a before b reuse) consume", (1, 20), "consume does not belong to restrict", "consumes nothing"),
    ("a and b per only ()", (1, 3), "per does not belong to and", "times and not"),
    ("a times 2 per only () per ?x", (1, 23), "there is a second per", "once"),
    ("a times 2 per ()", (1, 15), 'unexpected "()"', "a variable"),
    ("a times *", (1, 3), "an open iteration needs a window", "within"),
    ("a before b where ?q > 1", (1, 18), "?q is never bound", "?v, ?x"),
    ("a times 3 where ?v > 1", (1, 17), "?v is never bound", "per ?v"),
    ("a times 3 with max(?q) as ?m", (1, 16), "?q is never bound", "?v, ?x"),
    ("a times 3 with count as ?x", (1, 16), "?x is bound already", "name"),
    ("a times 3 with count as ?n, count as ?n", (1, 3), "two aggregates have the same name", "name"),
    ("not a within 5s per ?q", (1, 21), "?q is never bound", "?v, ?x"),
    ("a(?q) and b", (1, 3), "?q is not bound there", "?v, ?x"),
    ("a(?x as ?y, ?v as ?y)", (1, 1), "two variables get the same name", "its own"),
    ("a within -5 min", (1, 10), "the duration -5 min is negative", "minus"),
    ("a within 0s", (1, 10), "the duration 0s is nothing", "parallel"),
    ("a within 900000 weeks", (1, 10), "the duration 900000 weeks is absurd", "36,525 days"),
    ("a within 99999999999999999 weeks", (1, 10), "is absurd", "36,525 days"),
    ("a within 5 m", (1, 10), '"5 m" is no duration', "10 min"),
    ("a within", (1, 9), "is no duration", "10 min"),
    ("a within P1Y", (1, 10), "is no duration", "PT10M"),
    ("(a)_5", (1, 5), '"5" is no duration', "10 min"),
    ("a before X", (1, 10), 'there is no subscription "X"', "a, b"),
    ("a before b meets c", (1, 12), "two different relations", "(A before B) meets C"),
    ("a before", (1, 8), "the text ends too early", "name"),
    ("", (1, 1), "the text ends too early", "name"),
    ("a b", (1, 3), 'unexpected "b"', "operator"),
    ("(a and b", (1, 8), "the text ends too early", "closing bracket"),
    ("a times 0", (1, 9), "0 is no number of times", "10,000"),
    ("a times 10001", (1, 9), "10001 is no number of times", "10,000"),
    ("a times 2.5", (1, 9), "2.5 is no number of times", "10,000"),
    ("a times b", (1, 9), 'unexpected "b"', "number"),
    ("a and b within 5s within 6s", (1, 19), "a second within", "once"),
    ("a and b per ?x", (1, 13), "per does not belong to and", "times and not"),
    ("a and b with count as ?n", (1, 14), "with does not belong to and", "iteration"),
    ("not a within 5s reuse", (1, 1), "reuse does not belong to not", "consumes nothing"),
    ("a where", (1, 7), "the text ends too early", "condition"),
    ("a where ?x >", (1, 12), "the expression ends too early", "variable"),
    ("sparql { SELECT ?x { ?x", (1, 8), "the inline subscription is not closed", "}"),
    ("a and\nsparql { SELECT ?x {\n ?x ?? } }", (3, 5), 'unexpected "?"', "variable"),
    ("a before 'b", (1, 10), "unterminated string", "Close"),
    ("PREFIX x <urn:> a", (1, 8), 'unexpected "x"', "prefix"),
    ("a and ; b", (1, 7), 'unexpected ";"', "name"),
    ("a & & b", (1, 5), 'unexpected "&"', "name"),
]


@pytest.mark.parametrize(("text", "place", "message", "hint"), REFUSED)
def test_what_makes_no_sense_is_refused_where_it_stands(text, place, message, hint):
    with pytest.raises(LanguageError) as raised:
        composite(text)
    error = raised.value
    assert (error.line, error.column) == place, str(error)
    assert message in error.message
    assert error.hint
    assert hint in error.hint
    assert error.hint.endswith(".")
    assert not error.message[0].isupper()


def test_composites_may_name_each_other():
    found = parse_all({"fire": "alarm before c", "alarm": "a and b within 5s reuse"}, names=KNOWN)
    assert found["fire"].pattern.operands[0] == found["alarm"].pattern
    assert found["fire"].subscription_ids == {"a", "b", "c"}
    with pytest.raises(LanguageError, match="the variables of the composite alarm are fixed"):
        parse_all({"fire": "alarm(?x) before c", "alarm": "a and b"}, names=KNOWN)


@pytest.mark.parametrize(
    ("texts", "place", "source"),
    [
        ({"p": "a and\n p"}, (2, 2), "p"),
        ({"p": "a and q", "q": "b before r", "r": "p within 5s"}, (1, 1), "r"),
    ],
)
def test_a_circle_of_names_is_refused(texts, place, source):
    with pytest.raises(LanguageError, match="leads back to itself") as raised:
        parse_all(texts, names=KNOWN)
    assert (raised.value.line, raised.value.column) == place
    assert raised.value.diagnostic.source == source
    assert "p → " in raised.value.hint


def test_what_is_wrong_with_some_does_not_hide_the_others():
    texts = {
        "user": "a before\n broken",
        "broken": "a and not b",
        "p": "a and q",
        "q": "b before p",
        "good": "better times 2",
        "better": "a and b",
        "huge": deep(1000),
        "hugest": "a and huge",
    }
    found, faults = parse_each(texts, names=KNOWN)
    assert list(found) == ["good", "better"]
    assert found == parse_all({name: texts[name] for name in found}, names=KNOWN)
    at = list(faults).index
    for cause, following in (("broken", "user"), ("q", "p"), ("huge", "hugest")):
        assert at(cause) < at(following)
    told = {name: (fault.line, fault.column, fault.message) for name, fault in faults.items() if name != "huge"}
    assert told == {
        "broken": (1, 3, '"and not" needs a window'),
        "user": (2, 2, '"broken" cannot be used'),
        "q": (1, 10, '"p" leads back to itself'),
        "p": (1, 7, '"q" cannot be used'),
        "hugest": (1, 7, '"huge" cannot be used'),
    }
    assert all(fault.diagnostic.source == name for name, fault in faults.items() if name != "huge")
    assert isinstance(faults["huge"], LimitError)


def test_of_many_faults_the_cause_is_raised():
    with pytest.raises(LanguageError, match="needs a window"):
        parse_all({"user": "broken times 2", "broken": "not a"}, names=KNOWN)


def test_a_composite_hides_what_else_has_its_name():
    found, faults = parse_each({"a": "b times 2", "t": "a and c"}, names=KNOWN)
    assert not faults
    assert found["t"].subscription_ids == {"b", "c"}


def deep(level: int) -> str:
    return "(" * level + "a" + ")" * level


@pytest.mark.parametrize(
    "text",
    [
        deep(1000),
        "not " * 1000 + "a within 5s",
        "a" + " and a" * 500,
        "a" + " within 1s" * 500,
        "a" + " times 2" * 500,
        "a" + " within 1s and b" * 500,
        "a where " + "(" * 2000 + "?x",
        "a where " + " + ".join(["?x"] * 2000),
        "a " * (TEXT_MAX // 2 + 1),
        "a;" * 15_000,
    ],
)
def test_untrusted_text_is_refused_and_does_not_hang(text):
    with pytest.raises((LimitError, LanguageError)):
        composite(text)


def test_composites_of_composites_cannot_explode():
    texts = {f"c{n}": f"c{n + 1} before c{n + 1}" for n in range(20)} | {"c20": "a"}
    with pytest.raises(LimitError, match="too large"):
        parse_all(texts, names=KNOWN)
    chain = {f"c{n}": f"c{n + 1}" for n in range(2000)} | {"c2000": "a"}
    for texts in (chain, dict(reversed(chain.items()))):
        assert parse_all(texts, names=KNOWN)["c0"].pattern == Composite.parse("a", id="x", names=KNOWN).pattern


@pytest.mark.parametrize("suffix", [" or a)", " times 2)"])
def test_nesting_in_many_texts_is_no_deeper_than_in_one(suffix):
    texts = {f"c{n}": "(" * 28 + f"c{n + 1}" + suffix * 28 for n in range(40)} | {"c40": "a"}
    found, faults = parse_each(texts, names=KNOWN)
    assert {"c40", "c39"} >= found.keys() >= {"c40"}
    assert any(isinstance(fault, LimitError) for fault in faults.values())


def test_a_name_that_cannot_be_used_is_not_called_unknown():
    _, faults = parse_each({"c": "a before broken"}, names=KNOWN, faulty=["broken"])
    assert faults["c"].message == '"broken" cannot be used'


def test_a_limit_of_an_inline_subscription_is_told_where_it_stands():
    text = "a before\n  sparql { SELECT ?x { ?x <urn:p> ?o FILTER(" + "(" * 5000 + "1" + ")" * 5000 + ") } } within 1 h"
    with pytest.raises(LimitError, match=r"line 2, column 3: the inline subscription: nested too deeply"):
        Composite.parse(text, id="c", names=KNOWN)


def test_what_a_named_composite_leaves_inside_stays_there_when_it_is_printed():
    three = composite("a times 3", "three")
    outer = Composite.parse("three and b(?x)", id="outer", names={**NAMES, "three": three})
    assert to_text(outer.pattern) == "(a(?v, ?x) times 3 per only ()) and b(?x)"
    assert composite(to_text(outer.pattern)).pattern == outer.pattern
    some = composite("(not a within 5s per only ?x) and b").pattern
    assert some.operands[0].per == ("x",)
    assert to_text(some) == "(not a(?v, ?x) within 5 s per only ?x) and b(?v, ?x)"


@settings(max_examples=500, deadline=None)
@given(patterns(depth=4))
def test_what_is_printed_is_read_as_the_same(pattern):
    read = Composite.parse(to_text(pattern), id="c", names=KNOWN)
    assert read.pattern == pattern


@pytest.mark.parametrize("seed", [67629, 64464, 65513])
def test_names_of_aggregates_divide_what_is_around_them_and_not_what_is_inside(seed):
    test_what_is_printed_is_read_as_the_same.hypothesis.inner_test(Drawing(seed).pattern(4))


@settings(max_examples=300, deadline=None)
@given(patterns(depth=4))
def test_the_rdf_form_is_read_as_the_same(pattern):
    composite = Value("c", pattern)
    assert from_graph(to_graph(composite)) == [composite]


def test_the_rdf_form_carries_inline_subscriptions():
    composite = Composite.parse("PREFIX : <urn:> sparql { SELECT ?x { ?e :x ?x } } times 3 within 90s", id="c")
    assert from_graph(to_graph(composite)) == [composite]


def test_the_rdf_form_uses_its_vocabulary():
    ontology = Ontology.read(vocabulary(), format="text/turtle")
    known = {term.value for term in (*ontology.classes, *ontology.properties)}
    text = "(a times 2 within 1s per ?x with max(?v) as ?m where ?m > 1 reuse) before b or not c within 5s"
    for triple in to_graph(composite(text)):
        for term in (triple.predicate, triple.object):
            iri = getattr(term, "value", "")
            assert not iri.startswith("urn:ontosub:composite#") or iri in known, iri


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("window", "needs a window"),
        ("operands", "0 operands"),
        ("excluded", "has no excluded"),
        ("id", "has no id"),
    ],
)
def test_rdf_that_lacks_something_is_refused(wrong, message):
    graph = to_graph(composite("a and not b within 5s"))
    with pytest.raises(FormatError, match=message):
        from_graph(triple for triple in graph if not triple.predicate.value.endswith(f"#{wrong}"))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("10 min", 600),
        ("1 h 30 min", 5400),
        ("1.5 hours", 5400),
        ("PT10M", 600),
        ("P1DT1H", 90_000),
        ("2 days", 172_800),
        ("P1W", 604_800),
        ("500 ms", 0.5),
        ("PT0.25S", 0.25),
        ("1week", 604_800),
    ],
)
def test_durations(text, seconds):
    assert parse_duration(text) == timedelta(seconds=seconds)
    assert parse_duration(duration_text(parse_duration(text))) == parse_duration(text)


@pytest.mark.parametrize("text", ["", "10", "min", "P", "PT", "P1Y", "P1M", "10 parsecs", "1 h 30", "½ h", "1e9 s"])
def test_no_durations(text):
    with pytest.raises(Fault):
        parse_duration(text)


@pytest.mark.parametrize("text", ["0s", "0 min 0 s", "PT0S"])
def test_no_time_at_all_is_a_duration_only_where_that_makes_sense(text):
    assert parse_duration(text, or_nothing=True) == timedelta(0)
    with pytest.raises(Fault, match="is nothing"):
        parse_duration(text)
    with pytest.raises(Fault, match="is negative"):
        parse_duration("-5s", or_nothing=True)


@given(st.timedeltas(timedelta(microseconds=1), timedelta(days=30_000)))
def test_any_duration_is_printed_as_it_is_read(duration):
    assert parse_duration(duration_text(duration)) == duration


A, B, C = (on(NAMES[name]) for name in ("a", "b", "c"))


@pytest.mark.parametrize(
    ("built", "text"),
    [
        (A.before(B).within("10 min"), "a before b within 10 min"),
        (A.before(B).before(C), "a before b before c"),
        (A.before(B.before(C)), "a before (b before c)"),
        ((A & B).within(timedelta(seconds=5)) | C, "(a and b within 5s) or c"),
        ((~A).within("5s"), "not a within 5s"),
        (A.and_not(B).within("5s").where("?v > 3"), "a and not b within 5s where ?v > 3"),
        (A.times("*").within("5s").per("?x").aggregate(n="count", m="avg(?v)").where("?m > 3"), None),
        (A.times(3).reuse(), "a times 3 reuse"),
        (A.parallel(B), "a parallel b"),
        (A.within("5s").within("3s"), "((a within 5s)) within 3s"),
        (on(NAMES["a"], "?x", v="w").met_by(B), "a(?x, ?v as ?w) met by b"),
        (A.before(B).within("5s").before(C), "(a before b within 5s) before c"),
        (on(composite("a and b", "ab")).before(C), "(a and b) before c"),
    ],
)
def test_the_builder_builds_what_a_text_says(built, text):
    text = text or "a times * within 5s per ?x with count as ?n, avg(?v) as ?m where ?m > 3"
    assert built.composite("t").pattern == composite(text).pattern


@pytest.mark.parametrize("relation", Relation)
def test_the_builder_knows_each_relation(relation):
    method = getattr(A, relation.value.replace(" ", "_"))
    assert method(B).composite("t").pattern == composite(f"a {relation.value} b").pattern


def test_the_builder_refuses_what_a_text_may_not_say():
    with pytest.raises(LanguageError, match='"and not" needs a window'):
        A.and_not(B).composite("t")
    with pytest.raises(LanguageError, match="negative"):
        A.within("-5s")
    with pytest.raises(LanguageError, match="never bound"):
        A.before(B).where("?q > 1").composite("t")
    with pytest.raises(UsageError, match="how often"):
        A.times(0)
    other = Subscription.parse("ASK { ?a <urn:other> ?b }", id="a")
    with pytest.raises(UsageError, match="two different operands"):
        A.before(on(other))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: Conjunction((p,)), "2 to 20 operands"),
        (lambda p: Negation(p, timedelta(0)), "longer than nothing"),
        (lambda p: Exclusion(p, p, timedelta(days=1_000_000)), "at most 36,525 days"),
        (lambda p: Iteration(p, None), "needs a window"),
        (lambda p: Iteration(p, 0), "1 to 10,000"),
        (lambda p: Restriction(p), "a window or a condition"),
        (lambda p: Value("", p), "needs an id"),
    ],
)
def test_values_that_make_no_sense_cannot_be_built(make, message):
    with pytest.raises(UsageError, match=message):
        make(composite("a and b").pattern)


@pytest.mark.parametrize("condition", ["?v > 1 and ?v < 3", "?v > 1) || (?v < 3", "?v > 1 reuse", "?v > 1 per ?x"])
def test_a_condition_is_read_to_its_end(condition):
    with pytest.raises(LanguageError, match="unexpected"):
        on(KNOWN["a"]).times(2).where(condition)
    graph = to_graph(composite("a where ?v > 1"))
    [text] = [triple for triple in graph if isinstance(triple.object, Literal) and ">" in triple.object.value]
    changed = (graph - {text}) | {Triple(text.subject, text.predicate, Literal(condition))}
    with pytest.raises(LanguageError, match="unexpected"):
        from_graph(changed)


@pytest.mark.parametrize(
    "pattern",
    [
        Restriction(Primitive("a", (("x", "x"),)), None, (UNBOUND,)),
        Negation(Primitive("a", (("x", "x"),)), timedelta(1), ("y",)),
        Negation(Primitive("a", (("x", "x"),)), timedelta(1), (), (UNBOUND,)),
        Iteration(Primitive("a", (("x", "x"),)), 2, None, ("y",)),
        Iteration(Primitive("a", (("y", "y"),)), 2, None, (), (), (UNBOUND,)),
        Iteration(Primitive("a", (("x", "x"),)), 2, None, (), (Aggregate(AggregateFunction.MAX, "y", "m"),)),
    ],
    ids=str,
)
def test_a_graph_may_not_ask_for_what_is_never_bound(pattern):
    with pytest.raises(FormatError, match=r"\?y is never bound"):
        from_graph(to_graph(Value("t", pattern)))


def test_a_small_graph_that_is_a_large_pattern_is_refused():
    writing = Writing()
    root, pattern = writing.node("CompositeSubscription"), writing.node("PrimitiveSubscription")
    writing.say(root, "id", "t")
    writing.say(pattern, "id", "a")
    writing.say_list(pattern, "variables", [])
    for _ in range(29):
        outer = writing.node("Conjunction")
        writing.say_list(outer, "operands", [pattern, pattern])
        pattern = outer
    writing.say(root, "hasPattern", pattern)
    with pytest.raises(LimitError, match="the tree is too large"):
        from_graph(writing.triples)


def test_a_query_is_read_once_however_often_it_is_named():
    query = Subscription.parse("SELECT ?x { ?e <urn:x> ?x OPTIONAL { ?e <urn:once> ?o } }", id="q")
    text = "q"
    for _ in range(20):
        text = f"({text} and q)"
    before = inline._query_variables.cache_info().misses
    Composite.parse(text, id="t", names={"q": query})
    assert inline._query_variables.cache_info().misses == before + 1


def test_a_long_circle_is_shown_in_part():
    _, faults = parse_each({f"c{n}": f"c{(n + 1) % 3000} and a" for n in range(3000)}, names=KNOWN)
    [circle] = [fault.hint for fault in faults.values() if "itself" in fault.message]
    assert circle == "No composite can be made of itself: " + " → ".join(
        ["c0", "c1", "c2", "c3", "c4", "…", "c2996", "c2997", "c2998", "c2999", "c0."]
    )


def test_no_variable_has_such_a_name():
    with pytest.raises(UsageError, match="'v where 1 = 2' cannot be the name of a variable"):
        on(KNOWN["a"], v="v where 1 = 2")


def test_a_list_that_many_composites_share_is_not_read_without_bound(monkeypatch):
    writing = Writing()
    pattern, several = writing.node("PrimitiveSubscription"), []
    writing.say(pattern, "id", "a")
    for number in range(100):
        several.append(writing.node("Variable"))
        writing.say(several[-1], "variable", f"v{number}")
    writing.say_list(pattern, "variables", several)
    for number in range(20):
        root = writing.node("CompositeSubscription")
        writing.say(root, "id", f"c{number}")
        writing.say(root, "hasPattern", pattern)
    assert len(from_graph(writing.triples)) == 20
    monkeypatch.setattr(graphs, "CELLS_MAX", 1999)
    with pytest.raises(LimitError, match="at most 1,999 cells"):
        from_graph(writing.triples)


def turtle(pattern: str) -> list[Triple]:
    """Return the graph of a composite with this pattern, which stands at the vertex _:p."""
    text = f"""@prefix : <urn:ontosub:composite#> .
        [] a :CompositeSubscription ; :id "t" ; :hasPattern _:p .
        _:a a :PrimitiveSubscription ; :id "a" . _:b a :PrimitiveSubscription ; :id "b" .
        _:x a :PrimitiveSubscription ; :id "b" ; :variables ([ a :Variable ; :variable "x" ]) .
        _:p {pattern} ."""
    return [quad.triple for quad in parse(text, format=RdfFormat.TURTLE)]


@pytest.mark.parametrize(
    ("graph", "text"),
    [
        ("a :Conjunction ; :operands (_:a _:b)", "a and b"),
        ("a :Concurrency ; :operands (_:a _:b) ; :policy 'consume'", "a parallel b"),
        ("a :Disjunction ; :operands (_:a _:x) ; :window '5 s' ; :policy 'reuse'", "a or b(?x) within 5s reuse"),
        ("a :Sequence ; :operands (_:a _:b) ; :relation 'contains'", "a contains b"),
        ("a :Sequence ; :operands (_:a _:x) ; :relation 'met by' ; :where ('?v > 1' '?x > 1')",
         "a met by b(?x) where ?v > 1 where ?x > 1"),
        ("a :Negation ; :operands (_:a) ; :window 'PT5S'", "not a within 5s"),
        ("a :Exclusion ; :operands (_:a) ; :excluded _:x ; :window 'PT5S'", "a and not b(?x) within 5s"),
        ("a :Restriction ; :operands (_:a) ; :where ('?v > 1')", "a where ?v > 1"),
        ("a :Iteration ; :operands (_:a) ; :count 3", "a times 3"),
        ("a :Iteration ; :operands (_:a) ; :window 'PT5S'", "a times * within 5s"),
        ("a :Conjunction ; :operands (_:x [ a :Iteration ; :operands (_:a) ; :count 3 ])", "b(?x) and (a times 3)"),
        ("a :Conjunction ; :operands (_:b [ a :Iteration ; :operands (_:a) ; :count 3 ; :per ('x') ])",
         "b and (a times 3 per ?x)"),
        ("a :Conjunction ; :operands (_:b [ a :Iteration ; :operands (_:a) ; :count 3 ; :perOnly ('x') ])",
         "b and (a times 3 per only ?x)"),
        ("a :Conjunction ; :operands (_:b [ a :Negation ; :operands (_:a) ; :window 'PT5S' ; :perOnly () ])",
         "b and (not a within 5s per only ())"),
        ("a :Iteration ; :operands (_:a) ; :count 2 ; :aggregates ([ :function 'count' ; :name 'n' ])",
         "a times 2 with count as ?n"),
        ("a :Conjunction ; :operands (_:a [ a :PrimitiveSubscription ; :language 'sparql' ; "
         ":text 'ASK { ?e a <urn:E> }' ])", "a and sparql { ASK { ?e a <urn:E> } }"),
    ],
)  # fmt: skip
def test_what_a_graph_leaves_out_means_what_it_means_in_a_text(graph, text):
    assert from_graph(turtle(graph), names=NAMES) == [composite(text)]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ("a :Conjunction ; :operands (_:a _:b) ; :per ('x')", "per does not belong to and"),
        ("a :Conjunction ; :operands (_:a _:b) ; :count 3", "has a count, which does not belong to a Conjunction"),
        ("a :Conjunction ; :operands (_:a _:b) ; :windows 'PT5S'", "has a windows, which does not belong"),
        ("a :Conjunction ; :operands (_:a)", "has 1 operands"),
        ("a :Conjunction ; :operands (_:a _:b) ; :where (_:a)", "something that is no literal"),
        ("a :Negation ; :operands (_:a) ; :window 'PT5S' ; :policy 'reuse'", "reuse does not belong to not"),
        ("a :Exclusion ; :operands (_:a) ; :excluded _:b ; :window 'PT5S' ; :policy 'reuse'", "reuse does not belong"),
        ("a :Sequence ; :operands (_:a _:b) ; :relation 'bevor'", "has no such relation: bevor"),
        ("a :Sequence ; :operands (_:a _:b) ; :relation 'before' ; :policy 'once'", "makes no sense"),
        ("a :Iteration ; :operands (_:a) ; :count '１２'", "no number of times"),
        ("a :Iteration ; :operands (_:a) ; :count 10001", "no number of times"),
        ("a :Iteration ; :operands (_:a) ; :count 2 ; :per ('x') ; :perOnly ('x')", "has per and perOnly"),
        ("a :Iteration ; :operands (_:a) ; :count 2 ; :aggregates ([ :function 'count' ; :name 'n where 1' ])",
         "has a variable that has no name: n where 1"),
        ("a :Restriction ; :operands (_:a)", "restricts nothing"),
        ("a :PrimitiveSubscription ; :id 'a' ; :variables ([ :variable 'q' ])", "?q is not bound there"),
        ("a :PrimitiveSubscription ; :id 'a' ; :variables ([ :variable 'x' ; :name 'x y' ])", "no name: x y"),
        ("a :PrimitiveSubscription ; :id 'z'", 'there is no subscription "z"'),
        ("a :PrimitiveSubscription ; :language 'prolog' ; :text 'a :- b'", "has no such language: prolog"),
    ],
)  # fmt: skip
def test_what_a_text_may_not_say_a_graph_may_not_say(graph, message):
    with pytest.raises(FormatError, match=re.escape(message)) as raised:
        from_graph(turtle(graph), names=NAMES)
    assert raised.value.hint


def test_all_variables_of_a_subscription_that_nobody_knows():
    with pytest.raises(FormatError, match="has no variables, and what it names is not known"):
        from_graph(turtle("a :Conjunction ; :operands (_:a _:b)"))


def test_a_graph_may_say_as_much_as_a_text():
    long = " ".join(f"'?x > {number:09}{' ' * 1000}'" for number in range(250))
    with pytest.raises(LimitError, match="more than 200,000 characters"):
        from_graph(turtle(f"a :Restriction ; :operands (_:a) ; :where ({long})"), names=NAMES)


def test_an_inline_subscription_of_a_graph_cannot_take_the_name_of_another():
    written = "a :PrimitiveSubscription ; :id 'b' ; :language 'sparql' ; :text 'ASK { ?e a <urn:E> }'"
    [found] = from_graph(turtle(written), names=NAMES)
    assert found == composite("sparql { ASK { ?e a <urn:E> } }")


def test_there_is_no_such_relation():
    with pytest.raises(UsageError, match="no relation 'bevor'"):
        on(KNOWN["a"]).related("bevor", on(KNOWN["b"]))


def test_the_base_holds_for_inline_subscriptions():
    told = Composite.parse("BASE <http://example.org/> sparql { ASK { ?x a <Smoke> } } times 2", id="t")
    [inline] = told.subscriptions
    assert inline.patterns == Subscription.parse("ASK { ?x a <http://example.org/Smoke> }", id="x").patterns
