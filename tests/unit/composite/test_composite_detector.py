"""The detector and CompositeMatcher: coming and going, explanations, state that does not grow, work that is counted."""

import json
from datetime import timedelta

import pytest
from watching import NAMES, ZERO, at, composite, match, told

from ontosub import Composite, CompositeMatcher, Detector, Event, Match, Ontology, Subscription
from ontosub.composite import work
from ontosub.composite.rdf import from_graph, to_graph
from ontosub.languages.composite.graphs import Writing
from ontosub.model.composite import Composite as Value
from ontosub.model.composite import Primitive, Sequence
from ontosub.model.errors import LanguageError, LimitError, UnknownSubscription, UsageError
from ontosub.model.relation import Relation
from ontosub.model.terms import Literal


def x(value):
    return {"x": value, "v": 0}


def test_a_detection_shows_its_tree():
    detector = Detector()
    detector.subscribe(composite("(a before b) and not c within 5s", "alarm"))
    for each in (match("a", 1), match("b", 2, 3)):
        detector.feed(each)
    [found] = detector.advance(at(100))
    zero = '"0"^^<http://www.w3.org/2001/XMLSchema#integer>'
    day = "2026-01-01T00:00:0"
    assert str(found).splitlines() == [
        f"alarm: and not at {day}1+00:00/{day}3+00:00: ?v = {zero}, ?x = {zero}",
        f"  before at {day}1+00:00/{day}3+00:00: ?v = {zero}, ?x = {zero}",
        f"    a by event a1 at {day}1+00:00: ?v = {zero}, ?x = {zero}",
        f"    b by event b2 at {day}2+00:00/{day}3+00:00: ?v = {zero}, ?x = {zero}",
    ]
    assert found.event_ids == ("a1", "b2")
    told = json.loads(json.dumps(found.tree.to_dict()))
    assert told["constituents"][0]["constituents"][1]["event_id"] == "b2"


def test_a_composite_event_as_rdf_and_back():
    detector = Detector()
    detector.subscribe(composite("(a or b) times 2 with max(?v) as ?m"))
    for each in (match("a", 1, None, {"x": 1, "v": 5}, x(2)), match("b", 2)):
        detector.feed(each)
    [found] = detector.advance(at(100))
    assert from_graph(to_graph(found.tree)) == [found.tree]


def test_a_waiting_composite_says_what_it_waits_for_and_until_when():
    detector = Detector()
    for name, text in {
        "sequence": "a(?x) before b(?x) within 9s",
        "both": "a and b",
        "excluded": "a and not b within 5s",
        "row": "a times 3 within 4s",
        "silence": "not a within 7s",
        "open": "a times * within 6s",
        "either": "(a or b)_3s",
    }.items():
        detector.subscribe(composite(text, name))
    detector.feed(match("a", 1))
    detector.advance(at(1))

    def waiting(name):
        return [
            (w.event_ids, w.operands, w.until and (w.until - ZERO).total_seconds(), w.absence)
            for w in detector.waiting(name)
        ]

    assert waiting("sequence") == [(("a1",), ("b(?x)",), 10, False)]
    assert waiting("both") == [(("a1",), ("b(?v, ?x)",), None, False)]
    assert waiting("excluded") == [(("a1",), ("b(?v, ?x)",), 6, True)]
    assert waiting("row") == [(("a1",), ("a(?v, ?x)",), 5, False)]
    assert waiting("silence") == [((), ("a(?v, ?x)",), 8, True)]
    assert waiting("open") == [(("a1",), ("a(?v, ?x)",), 7, True)]
    assert waiting("either") == [(("a1",), (), 4, False)]
    [shown] = map(str, detector.waiting("sequence"))
    value = '"0"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert shown == (
        "sequence: a(?x) before b(?x) within 9 s has a1, waits for b(?x) until 2026-01-01T00:00:10+00:00 "
        f"(?x = {value})"
    )
    with pytest.raises(UnknownSubscription):
        detector.waiting("nobody")


def test_who_goes_leaves_nothing_behind():
    detector = Detector()
    detector.subscribe(composite("(a before b) and c", "one"))
    detector.subscribe(composite("a before b", "two"))
    detector.feed(match("a", 1))
    detector.advance(at(1))
    assert (detector.counters.operators, detector.counters.live) == (2, 1)
    detector.unsubscribe("one")
    assert (detector.counters.operators, detector.counters.live) == (1, 1)
    detector.feed(match("b", 2))
    assert told(detector.advance(at(2))) == [("a1", "b2")]
    detector.unsubscribe("two")
    assert (detector.counters.operators, detector.counters.live) == (0, 0)
    with pytest.raises(UnknownSubscription):
        detector.unsubscribe("two")


def test_an_id_belongs_to_one_composite():
    detector = Detector()
    detector.subscribe(composite("a before b"))
    detector.subscribe(composite("a before b"))
    with pytest.raises(UsageError, match="taken"):
        detector.subscribe(composite("b before a"))


def test_what_makes_no_sense_is_refused():
    detector = Detector()
    with pytest.raises(UsageError, match="no time"):
        detector.feed(Match("a", "e"))
    for option in ("lateness", "lifetime"):
        with pytest.raises(UsageError, match="negative"):
            Detector(**{option: timedelta(seconds=-1)})


def test_the_key_of_a_detection_is_the_same_whenever_it_is_found():
    def found(history):
        detector = Detector()
        detector.subscribe(composite("a before b"))
        for each in history:
            detector.feed(each)
        return detector.advance(at(100))

    history = [match("a", 1), match("b", 2), match("a", 3), match("b", 4)]
    first, second = found(history), found(history[::-1])
    assert [each.key for each in first] == [each.key for each in second]
    assert first == second
    assert len({*first, *second}) == 2


def test_the_next_moment_of_interest_is_known():
    detector = Detector()
    detector.subscribe(composite("a and not b within 5s"))
    detector.feed(match("a", 1))
    start = detector.due
    detector.advance_to(start)
    assert detector.due - start == 5_000_000
    assert len(detector.advance_to(detector.due)) == 1


WINDOWED = (
    "a(?x) before b(?x) within 10s",
    "a(?x) and b(?x) within 10s",
    "a(?x) and not b(?x) within 10s",
    "a times 3 within 10s per ?x",
    "a times * within 10s per ?x",
    "not a within 10s per ?x",
    "(a(?x) or b(?x)) within 10s",
    "(a(?x) before b(?x) within 10s) before a(?x) within 20s reuse",
)


def live_instances(events: int) -> list[int]:
    """Return how many instances are held after each thousandth part of a run over many keys that come and go."""
    detector = Detector(lateness=timedelta(seconds=1))
    for number, text in enumerate(WINDOWED):
        detector.subscribe(composite(text, f"c{number}"))
    held = []
    for number in range(events):
        microseconds = number * 10_000
        row = ({"x": f'"{number * 7919 % 97 + number // 20}"', "v": '"1"'},)
        detector.put("ab"[number * 31 % 7 > 3], f"e{number}", microseconds, microseconds, row)
        detector.advance_to(microseconds - 1_000_000)
        if number % (events // 1000) == 0:
            held.append(detector.counters.live + detector.counters.pending + detector.counters.keys)
    return held


def assert_bounded(held: list[int]) -> None:
    """Check that as much is held at the beginning, once windows are full, as ever after."""
    assert held[200] > 1000
    assert max(held) <= 1.3 * max(held[100:300])


def test_state_does_not_leak():
    assert_bounded(live_instances(20_000))


@pytest.mark.full
@pytest.mark.timeout(3000)
def test_state_does_not_leak_in_a_million_events():
    assert_bounded(live_instances(1_000_000))


def test_lifetimes_bound_what_has_no_window():
    detector = Detector(lifetime=timedelta(seconds=10))
    detector.subscribe(composite("a before b"))
    detector.subscribe(composite("a and b", "u"))
    for second in range(1000):
        detector.feed(match("a", second))
        detector.advance(at(second - 1))
    assert detector.counters.live <= 30


def test_a_match_touches_only_what_concerns_it():
    """Ten times the subscriptions and keys are no more work for a match that concerns as many of them as before."""

    def steps(scale: int) -> int:
        detector = Detector()
        for number in range(10 * scale):
            operands = tuple(Primitive(f"{side}{number}", (("x", "x"),)) for side in "ab")
            detector.subscribe(Value(f"c{number}", Sequence(Relation.BEFORE, operands, timedelta(hours=1))))
        for number in range(1000):
            row = ({"x": f'"{number // 2 % (20 * scale)}"'},)
            detector.put(f"{'ab'[number % 2]}{number // 2 % 10}", f"e{number}", number, number, row)
        assert len(detector.advance_to(10_000)) == 500
        return detector.counters.steps

    assert steps(10) == steps(1) == 500


def test_a_condition_that_nothing_meets_has_a_limit(monkeypatch):
    monkeypatch.setattr(work, "STEPS_MAX", 1000)
    detector = Detector()
    detector.subscribe(composite("a(?v) and b(?v as ?w) and c(?v as ?u) where ?v + ?w + ?u < 0"))
    for second in range(60):
        for name in "abc":
            detector.feed(match(name, second))
    detector.advance(at(100))
    assert 0 < detector.counters.overruns < 180
    assert detector.counters.steps <= 180 * 1000


MANY = [{"v": number} for number in range(400)]
"""So many answers that those of two matches make more pairs than may be tried."""


@pytest.mark.parametrize(
    "text",
    [
        "a(?v as ?l) and b(?v as ?r)",
        "a(?v as ?l) before b(?v as ?r) reuse",
        "a(?v as ?l) before b(?v as ?r) before c()",
        "(a(?v as ?l) or b(?v as ?r)) within 1 h reuse",
    ],
)
def test_answers_are_not_multiplied_without_bound(text):
    """What is too much for one pair takes nothing from the others."""
    detector = Detector()
    detector.subscribe(composite(text))
    for each in (match("a", 1, None, *MANY), match("a", 2), match("b", 3, None, *MANY), match("c", 4)):
        detector.feed(each)
    found = detector.advance(at(10_000))
    assert ("a2", "b3") in {events[:2] for events in told(found)}
    assert all(len(each.bindings) <= 400 for each in found)
    assert detector.overruns == {"t": 1}
    assert detector.counters.steps < 2000


def test_what_cannot_be_compared_with_all_answers_counts_as_excluded(monkeypatch):
    monkeypatch.setattr(work, "STEPS_MAX", 2000)
    detector = Detector()
    detector.subscribe(composite("a(?v as ?l) and not b(?v as ?r) within 1 h where ?l + 1000 = ?r"))
    for each in (match("a", 1, None, *MANY), match("b", 2, None, *MANY)):
        detector.feed(each)
    [found] = detector.advance(at(10_000))
    assert len(found.bindings) == 2000 // 400  # so many were compared
    assert detector.overruns == {"t": 1}


def test_a_few_events_are_not_a_tree_without_bound():
    """Each level takes the ten latest of the level below: of 60 events a tree of a million leaves would be made."""
    text = "a"
    for _ in range(6):
        text = f"({text} times 10 reuse)"
    detector = Detector()
    detector.subscribe(composite(text))
    for second in range(60):
        detector.feed(match("a", second))
    assert detector.advance(at(100)) == []
    assert detector.overruns == {"t": 6}


def test_what_is_tried_does_not_depend_on_what_was_forgotten(monkeypatch):
    """Lifetimes differ, so some that came later are outlived sooner: restored, a detector does not hold these."""
    monkeypatch.setattr(work, "STEPS_MAX", 30)
    asked = composite("a(?v as ?l) and b(?v as ?r) and c(?v as ?s) where ?l + ?r + ?s > 60")
    whole, cut = Detector(), Detector()
    for detector in (whole, cut):
        detector.subscribe(asked)
    found = []
    for number in range(120):
        each = match("aabbc"[number * 7 % 5], number, None, {"v": number % 40})
        for detector in (whole, cut):
            detector.feed(each, lifetime=timedelta(seconds=3 + number * 13 % 50))
        found += [(told(whole.advance(at(number))), told(cut.advance(at(number))))]
        cut = Detector.restored(json.loads(json.dumps(cut.state())), {"t": asked})
    assert [one for one, _ in found] == [other for _, other in found]
    assert any(one for one, _ in found)
    assert whole.overruns["t"] > 0


def test_what_was_not_tried_is_said_of_each_composite_that_it_concerns():
    matcher = CompositeMatcher(lateness=None)
    for each in NAMES.values():
        matcher.subscribe(each)
    sums = "a(?v as ?l) and b(?v as ?r) and c() where ?l + ?r = 1198"
    for name, text in (("sums", sums), ("above", f"({sums}) before a()"), ("pairs", "a(?x) and b(?x)")):
        matcher.subscribe(composite(text, name))
    for number in range(400):
        for name in "ab":
            matcher.detector.feed(match(name, number, None, {"x": number, "v": 200 + number}))
    matcher.detector.feed(match("c", 1000))
    assert matcher.overruns == {}
    found = matcher.advance(at(2000))
    assert {each.subscription_id for each in found} == {"pairs"}  # what fits comes last of 160,000 combinations
    assert matcher.overruns == matcher.detector.overruns == {"sums": 1, "above": 1}
    matcher.unsubscribe("sums")
    assert matcher.overruns == {"above": 1}
    assert matcher.counters.overruns == 1


PREFIX = "PREFIX : <urn:> "


def event(kind: str, second: float, room: str = "kitchen", **options) -> Event:
    text = f"@prefix : <urn:> . [] a :{kind} ; :room :{room} ."
    return Event.read(text, "text/turtle", id=f"{kind}{second:g}", time=at(second), **options)


def alarm(kind: str) -> Subscription:
    return Subscription.parse(f"{PREFIX}SELECT ?room {{ ?e a :{kind} ; :room ?room }}", id=kind.lower())


def test_nobody_takes_the_place_of_a_subscription_inside_a_composite():
    matcher = CompositeMatcher()
    inside = Composite.parse("sparql { ASK { ?e a <urn:Smoke> } } times 1", id="t")
    [name] = inside.subscription_ids
    matcher.subscribe(Subscription.parse("ASK { ?e a <urn:Heat> }", id=name))
    with pytest.raises(UsageError, match="of a subscription inside 't', is taken by another"):
        matcher.subscribe(inside)
    assert not matcher.detector.composites
    matcher.unsubscribe(name)
    matcher.subscribe(inside)


def test_events_are_published_and_composites_detected():
    matcher = CompositeMatcher(lateness=timedelta(seconds=2))
    matcher.subscribe(alarm("Smoke"))
    inline = f"{PREFIX} smoke before sparql {{ SELECT ?room {{ ?e a :Heat ; :room ?room }} }} within 60s"
    matcher.subscribe(Composite.parse(inline, id="fire", names=matcher.names))
    matcher.subscribe(Composite.parse("fire times 2", id="twice", names=matcher.names))
    assert [each.subscription_id for each in matcher.publish(event("Smoke", 1)).matches] == ["smoke"]
    assert matcher.publish(event("Heat", 2, "cellar")) == ([], [])
    assert matcher.publish(event("Heat", 5)) == ([], [])
    assert [each.event_ids for each in matcher.waiting("fire")] == [("Smoke1",)]
    [found] = matcher.publish(event("Nothing", 8)).detections
    assert (found.subscription_id, found.event_ids) == ("fire", ("Smoke1", "Heat5"))
    assert found.bindings[0]["room"].value == "urn:kitchen"
    for each in (event("Smoke", 20), event("Heat", 21)):
        matcher.publish(each)
    assert [each.subscription_id for each in matcher.advance(at(60))] == ["twice", "fire"]  # the one that starts first
    assert matcher.counters.late == 0


def test_names_come_before_what_is_made_of_them_and_go_after_it():
    matcher = CompositeMatcher()
    fire = Composite.parse("smoke before heat", id="fire", names={"smoke": alarm("Smoke"), "heat": alarm("Heat")})
    with pytest.raises(UsageError, match="needs 'heat'"):
        matcher.subscribe(fire)
    for kind in ("Smoke", "Heat"):
        matcher.subscribe(alarm(kind))
    matcher.subscribe(fire)
    with pytest.raises(UsageError, match="made of 'smoke'"):
        matcher.unsubscribe("smoke")
    with pytest.raises(UsageError, match="taken by a composite"):
        matcher.subscribe(Subscription.parse("ASK { ?a ?b ?c }", id="fire"))
    with pytest.raises(UsageError, match="taken by a subscription"):
        matcher.subscribe(Composite.parse("a", id="heat", names=NAMES))
    matcher.unsubscribe("fire")
    matcher.unsubscribe("smoke")
    assert matcher.names.keys() == {"heat"}


def test_inline_subscriptions_go_with_the_last_composite_that_has_them():
    matcher = CompositeMatcher()
    text = f"{PREFIX} sparql {{ SELECT ?room {{ ?e a :Heat ; :room ?room }} }} times "
    for count in (1, 2):
        matcher.subscribe(Composite.parse(f"{text}{count}", id=f"c{count}"))
    matcher.unsubscribe("c1")
    matcher.publish(event("Heat", 1))
    matcher.publish(event("Heat", 2))
    assert [each.subscription_id for each in matcher.advance(at(9))] == ["c2"]
    matcher.unsubscribe("c2")
    assert not matcher.matcher.subscriptions


def test_an_event_may_state_its_lifetime_and_must_state_its_time():
    matcher = CompositeMatcher()
    for kind in ("Smoke", "Heat"):
        matcher.subscribe(alarm(kind))
    matcher.subscribe(Composite.parse("smoke before heat", id="fire", names=matcher.names))
    matcher.publish(event("Smoke", 1, lifetime=timedelta(seconds=3)))
    matcher.publish(event("Heat", 5))
    assert matcher.advance(at(60)) == []
    with pytest.raises(UsageError, match="no time"):
        matcher.publish(Event.read("@prefix : <urn:> . [] a :Smoke ; :room :r .", "text/turtle"))


def test_without_a_lateness_only_saying_so_lets_time_pass():
    matcher = CompositeMatcher(lateness=None)
    for kind in ("Smoke", "Heat"):
        matcher.subscribe(alarm(kind))
    matcher.subscribe(Composite.parse("smoke before heat", id="fire", names=matcher.names))
    for each in (event("Nothing", 90), event("Heat", 5), event("Smoke", 1)):
        assert matcher.publish(each).detections == []
    assert [each.event_ids for each in matcher.advance(at(5))] == [("Smoke1", "Heat5")]


def test_a_strict_matcher_takes_in_all_of_a_composite_or_nothing():
    ontology = Ontology.read(f"{PREFIX} :Smoke a <http://www.w3.org/2002/07/owl#Class> .", format="text/turtle")
    matcher = CompositeMatcher(ontology, strict=True)
    known, unknown = (f"sparql {{ SELECT ?room {{ ?e a :{kind} ; :room ?room }} }}" for kind in ("Smoke", "Heat"))
    matcher.subscribe(Composite.parse(f"{PREFIX} {known} times 2", id="smoky"))
    [standing] = matcher.inline
    with pytest.raises(LanguageError, match="unknown class <urn:Heat>"):
        matcher.subscribe(Composite.parse(f"{PREFIX} {known} before {unknown}", id="fire"))
    assert matcher.names.keys() == {"smoky"}
    assert (matcher.inline, list(matcher.matcher.subscriptions)) == ({standing: {"smoky"}}, [standing])


def test_an_operand_brings_only_the_variables_that_it_chose():
    """Though another composite wants others of the same subscription, and one of the chosen is not bound."""
    detector = Detector()
    detector.subscribe(composite("b(?v) and a(?x)"))
    detector.subscribe(composite("a(?v) times 9", "other"))
    detector.feed(match("a", 1, None, {"v": 1}))
    detector.feed(match("b", 2, None, {"x": 0, "v": 7}))
    [found] = detector.advance(at(9))
    assert found.bindings == [{"v": Literal(7)}]


@pytest.mark.parametrize("other", [None, "a(?v) times 5", "a(?x) times 5"])
def test_a_composite_sees_what_comes_after_it_whoever_else_has_subscribed(other):
    """W5, also while the watermark has not passed what came before."""
    detector = Detector()
    if other is not None:
        detector.subscribe(composite(other, "other"))
    detector.feed(match("a", 1))
    detector.subscribe(composite("a(?x) before b(?x)"))
    detector.feed(match("a", 2))
    state = json.loads(json.dumps(detector.state()))
    for each in (detector, Detector.restored(state, detector.composites)):
        each.feed(match("b", 3))
        assert told(each.advance(at(9))) == [("a2", "b3")]


def test_another_composite_under_the_same_id_begins_anew():
    detector = Detector(start=at(0))
    detector.subscribe(composite("a times 2"))
    detector.advance(at(100))
    changed = Detector.restored(detector.state(), {"t": composite("not a within 5s")})
    assert changed.advance(at(101)) == []
    [found] = changed.advance(at(105))
    assert (found.interval.start, found.interval.end) == (at(100), at(105))


def test_what_waits_does_not_keep_a_subscription_that_nobody_wants():
    detector = Detector()
    detector.subscribe(composite("a times 2"))
    detector.feed(match("a", 1))
    detector.unsubscribe("t")
    detector.advance(at(9))
    assert not detector.concerns("a")


def test_moments_have_a_time_zone():
    with pytest.raises(UsageError, match="no time zone"):
        Detector(start=ZERO.replace(tzinfo=None))
    with pytest.raises(UsageError, match="no time zone"):
        Detector().advance(ZERO.replace(tzinfo=None))


def test_before_1970_there_was_time_as_well():
    detector = Detector()
    detector.subscribe(composite("a before b"))
    detector.subscribe(composite("a times 2", "twice"))
    for each in (match("a", -2e9), match("b", -2e9 + 1)):
        detector.feed(each)
    assert told(detector.advance(at(-2e9))) == []
    assert [wait.until for name in ("t", "twice") for wait in detector.waiting(name)] == [None, None]
    assert told(detector.advance(at(0))) == [("a-2e+09", "b-2e+09")]


def test_a_small_graph_that_is_a_large_tree_is_refused():
    writing = Writing()
    event = writing.node("PrimitiveEvent")
    writing.say(event, "subscription", "a")
    writing.say(event, "id", "e")
    stamp = writing.node("Timestamp")
    for name in ("start", "end"):
        writing.say(stamp, name, at(0).isoformat())
    writing.say(event, "hasTimestamp", stamp)
    for _ in range(40):
        outer = writing.node("CompositeEvent")
        writing.say(outer, "operator", "and")
        writing.say(outer, "hasTimestamp", stamp)
        writing.say_list(outer, "members", [event, event])
        event = outer
    with pytest.raises(LimitError, match="the tree is too large"):
        from_graph(writing.triples)
