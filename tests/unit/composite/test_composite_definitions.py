"""Each line of the definition in docs/COMPOSITE.md, by its letter and number, on an example."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from watching import at, composite, detect, match, times, told

from ontosub import Detector
from ontosub.model.composite import COUNT_MAX
from ontosub.model.terms import BlankNode

PAGE = (Path(__file__).parents[3] / "docs" / "COMPOSITE.md").read_text(encoding="utf-8")
x, v = (lambda value: {"x": value, "v": 0}), (lambda value: {"x": 0, "v": value})


def test_every_line_of_the_definition_has_a_test_here():
    lines = set(re.findall(r"\*\*([A-Z][0-9])\*\*", PAGE))
    tested = {name.split("_")[1].upper() for name in globals() if re.match(r"test_[a-z][0-9]_", name)}
    assert lines == tested
    assert len(lines) > 30


def test_i1_a_match_is_one_instance_whatever_number_of_answers_it_has():
    assert told(detect("a times 2", match("a", 1, None, x(1), x(2)))) == []
    assert told(detect("a within 1s", match("a", 1, 2, x(1), x(2)), match("a", 3))) == [("a1",), ("a3",)]


def test_i2_a_composite_reaches_from_the_earliest_start_to_the_latest_end():
    [found] = detect("a and b", match("a", 3, 9), match("b", 1, 4))
    assert times(found) == (1, 9)


def test_i3_order_is_by_end_then_start_then_operand_then_event():
    assert told(detect("a times 2", match("a", 5, 9), match("a", 6, 8), match("a", 1, 9)))[0] == ("a6", "a1")
    same = [match("a", 1, event=name) for name in ("z", "y", "w")]
    assert told(detect("a times 2", *same)) == [("w", "y")]


def test_i4_an_instance_lives_no_longer_than_its_lifetime():
    for lifetime, found in ((timedelta(seconds=4), []), (timedelta(seconds=5), [("a1", "b6")])):
        assert told(detect("a before b", match("a", 1), match("b", 6), lifetime=lifetime)) == found
        detector = Detector()
        detector.subscribe(composite("a before b"))
        detector.feed(match("a", 1), lifetime=lifetime)
        detector.feed(match("b", 6), lifetime=timedelta(0))
        assert told(detector.advance(at(100))) == found
    silence = "(not a within 2s) before b"
    assert detect(silence, match("a", 1), match("b", 9), lifetime=timedelta(seconds=5)) == []
    assert len(detect(silence, match("a", 1), match("b", 8), lifetime=timedelta(seconds=5))) == 1


def test_i5_no_match_is_two_constituents():
    assert told(detect("a and a", match("a", 1))) == []
    assert told(detect("a(?v) and a(?v as ?w)", match("a", 1))) == []
    assert told(detect("a and a", match("a", 1), match("a", 2))) == [("a1", "a2")]
    assert told(detect("a(?v) before a(?v as ?w)", *[match("a", second) for second in (1, 2, 3)])) == [("a1", "a2")]


def test_i6_the_same_match_counts_once():
    detector = Detector()
    detector.subscribe(composite("a times 2"))
    for _ in range(3):
        detector.feed(match("a", 1))
    assert detector.advance(at(5)) == []
    assert detector.counters.repeated == 2


def test_a1_answers_that_agree_are_merged():
    [found] = detect("a(?x) and b(?x, ?v)", match("a", 1, None, x(1), x(2)), match("b", 2, None, {"x": 2, "v": 7}))
    assert [{name: term.value for name, term in answer.items()} for answer in found.bindings] == [{"x": "2", "v": "7"}]
    assert detect("a and b", match("a", 1, None, x(1)), match("b", 2, None, x(2))) == []
    blank = {"x": BlankNode("n"), "v": 0}
    assert detect("a and b", match("a", 1, None, blank), match("b", 2, None, blank)) == []
    assert len(detect("a and b", match("a", 1, None, blank, event="e"), match("b", 2, None, blank, event="e"))) == 1


def test_a2_a_condition_that_fails_consumes_nothing():
    text = "a(?v) before b(?v as ?w) where ?w > ?v + 5"
    history = [match("a", 1, None, v(1)), match("b", 2, None, v(6)), match("b", 3, None, v(7))]
    assert told(detect(text, *history)) == [("a1", "b3")]
    assert detect("a where ?v > ?x", match("a", 1, None, {"x": 1})) == []


def test_a3_each_combination_of_correlating_values_is_a_part_by_itself():
    history = [match("a", 1, None, x(1), x(2)), match("b", 2, None, x(1)), match("b", 3, None, x(2))]
    assert told(detect("a(?x) before b(?x)", *history)) == [("a1", "b2"), ("a1", "b3")]
    assert detect("a(?x) before b(?x)", match("a", 1, None, {"v": 1}), match("b", 2, None, {"v": 1})) == []


def test_a4_only_chosen_variables_take_part_under_their_names():
    [found] = detect("a(?v as ?w)", match("a", 1, None, {"x": 1, "v": 5}))
    assert found.bindings[0].keys() == {"w"}
    [found] = detect("a", match("a", 1, None, {"x": 1, "v": 5}))
    assert found.bindings[0].keys() == {"x", "v"}
    assert len(detect("a() before b()", match("a", 1, None, x(1)), match("b", 2, None, x(2)))) == 1


HISTORY = [match("a", 1), match("a", 2), match("b", 3), match("b", 4)]


def test_c1_consume_takes_the_oldest_and_uses_it_up():
    assert told(detect("a before b", *HISTORY)) == [("a1", "b3"), ("a2", "b4")]
    assert told(detect("a before b before c", *HISTORY, match("c", 5))) == [("a1", "b3", "c5")]


def test_c2_reuse_completes_all():
    assert sorted(told(detect("a before b reuse", *HISTORY))) == [
        ("a1", "b3"),
        ("a1", "b4"),
        ("a2", "b3"),
        ("a2", "b4"),
    ]


def test_c3_consumption_is_each_operator_s_own():
    detector = Detector()
    for name in ("one", "two"):
        detector.subscribe(composite("(a before b) and c", name))
    detector.subscribe(composite("a before b", "three"))
    for each in (*HISTORY[1:3], match("c", 5)):
        detector.feed(each)
    found = detector.advance(at(100))
    assert sorted(each.subscription_id for each in found) == ["one", "three", "two"]
    assert detector.counters.operators == 2


def test_r1_a_restriction_passes_what_is_short_enough_and_meets_the_condition():
    history = [match("a", 1, 3), match("a", 4, 7), match("a", 8, 9, v(5))]
    assert told(detect("a within 2s", *history)) == [("a1",), ("a8",)]
    assert told(detect("a within 2s where ?v > 3", *history)) == [("a8",)]


def test_j1_and_takes_any_order():
    assert told(detect("a and b", match("b", 1), match("a", 2))) == [("a2", "b1")]


def test_j2_parallel_takes_equal_intervals():
    history = [match("a", 1, 3), match("a", 2, 4), match("b", 2, 4), match("b", 1, 4)]
    assert told(detect("a parallel b", *history)) == [("a2", "b2")]
    assert told(detect("a || b", *history)) == told(detect("a = b", *history)) == [("a2", "b2")]


@pytest.mark.parametrize(
    ("relation", "first", "second"),
    [
        ("before", (1, 2), (3, 4)),
        ("meets", (1, 2), (2, 4)),
        ("overlaps", (1, 3), (2, 4)),
        ("starts", (1, 2), (1, 4)),
        ("during", (2, 3), (1, 4)),
        ("finishes", (2, 4), (1, 4)),
        ("equals", (1, 4), (1, 4)),
        ("finished by", (1, 4), (2, 4)),
        ("includes", (1, 4), (2, 3)),
        ("contains", (1, 4), (2, 3)),
        ("started by", (1, 4), (1, 2)),
        ("overlapped by", (2, 4), (1, 3)),
        ("met by", (2, 4), (1, 2)),
        ("after", (3, 4), (1, 2)),
    ],
)
def test_j3_a_relation_holds_of_its_intervals_and_of_no_others(relation, first, second):
    assert len(detect(f"a {relation} b", match("a", *first), match("b", *second))) == 1
    others = [(1, 2), (2, 4), (1, 3), (1, 4), (2, 3), (3, 4)]
    found = {
        (one, two) for one in others for two in others if detect(f"a {relation} b", match("a", *one), match("b", *two))
    }
    assert (first, second) in found
    assert all(detect(f"b {relation} a", match("a", *two), match("b", *one)) for one, two in found)
    assert 0 < len(found) < len(others) ** 2 / 2


def test_j4_a_window_restricts_the_whole_composite():
    for text in ("a and b within 5s", "(a and b)_5s", "a before b within 5s"):
        assert len(detect(text, match("a", 1), match("b", 6))) == 1
        assert detect(text, match("a", 0.9), match("b", 6)) == []
    assert told(detect("a and b within 5s", match("a", 0), match("a", 4), match("b", 6))) == [("a4", "b6")]


def test_j5_equal_operands_are_not_told_apart():
    assert told(detect("a and a reuse", *[match("a", second) for second in (1, 2, 3)])) == [
        ("a1", "a2"),
        ("a1", "a3"),
        ("a2", "a3"),
    ]


def test_d1_or_takes_each():
    assert told(detect("a or b", match("b", 1), match("a", 2), match("c", 3))) == [("b1",), ("a2",)]


def test_d2_or_with_a_window_joins_two_that_fall_into_it():
    history = [match("a", 1), match("b", 3), match("a", 20)]
    assert told(detect("(a or b) within 5s", *history)) == [("a1", "b3"), ("a20",)]


def test_d3_a_partner_is_used_up_or_serves_again():
    history = [match("a", 1), match("b", 2), match("b", 3)]
    assert told(detect("(a or b)_5s", *history)) == [("a1", "b2"), ("b3",)]
    assert told(detect("(a or b)_5s reuse", *history)) == [("a1", "b2"), ("a1", "b3")]
    other = [match("a", 1, None, x(1)), match("b", 2, None, x(2))]
    assert told(detect("(a or b)_5s", *other)) == [("a1",), ("b2",)]


def test_n1_a_silence_is_told_once():
    found = detect("not a within 5s", match("a", 2), match("a", 7), match("a", 20), start=0)
    assert list(map(times, found)) == [(7, 12), (20, 25)]
    assert list(map(times, detect("not a within 5s", start=0))) == [(0, 5)]
    assert detect("not a within 5s", match("b", 1)) == []


def test_n2_what_follows_excludes():
    text = "a and not b within 5s"
    assert told(detect(text, match("a", 1), match("b", 6))) == []
    assert told(detect(text, match("a", 1), match("b", 6.1))) == [("a1",)]
    assert told(detect(text, match("b", 1), match("a", 1))) == [("a1",)]
    text = "a(?x, ?v) and not b(?x, ?v as ?w) within 5s where ?w > ?v"
    assert told(detect(text, match("a", 1, None, v(3)), match("b", 2, None, v(3)))) == [("a1",)]
    assert told(detect(text, match("a", 1, None, v(3)), match("b", 2, None, v(4)))) == []
    [found] = detect(text, match("a", 1, None, x(1), x(2)), match("b", 2, None, {"x": 2, "v": 1}))
    assert [answer["x"].value for answer in found.bindings] == ["1"]


def test_n3_a_silence_per_value_binds_it():
    history = [match("a", 1, None, x(1)), match("a", 3, None, x(2)), match("a", 5, None, x(1))]
    found = detect("not a within 5s per ?x", *history)
    assert [(times(each), each.bindings[0]["x"].value) for each in found] == [((3, 8), "2"), ((5, 10), "1")]
    assert found[0].event_ids == ()
    assert len(detect("not a within 5s where ?v > 1", match("a", 1), match("a", 2, None, v(5)))) == 1


def test_n4_who_excludes_is_not_consumed_and_policies_agree():
    history = [match("a", 1), match("a", 2), match("b", 3), match("a", 9)]
    for policy in ("consume", "reuse"):
        detector = Detector()
        detector.subscribe(composite("a and not b within 5s", policy=policy))
        for each in history:
            detector.feed(each)
        assert told(detector.advance(at(100))) == [("a9",)]


def test_t1_so_many_in_a_row():
    assert told(detect("a times 2", *[match("a", second) for second in (1, 50, 90)])) == [("a1", "a50")]


def test_t2_each_within_the_window_of_the_former():
    history = [match("a", second) for second in (1, 7, 12, 17)]
    assert told(detect("a times 3 within 5s", *history)) == [("a7", "a12", "a17")]


def test_t3_as_many_as_come():
    found = detect("a times * within 5s", *[match("a", second) for second in (1, 6, 20)])
    assert told(found) == [("a1", "a6"), ("a20",)]
    assert times(found[0]) == (1, 6)


def test_t4_a_row_per_value():
    history = [match("a", 1, None, x(1)), match("a", 2, None, x(2)), match("a", 3, None, x(1))]
    [found] = detect("a times 2 per ?x", *history)
    assert found.event_ids == ("a1", "a3")
    assert {name: term.value for name, term in found.bindings[0].items()} == {"x": "1"}


def test_t5_aggregates():
    history = [match("a", second, None, v(second)) for second in (1, 2, 6)]
    text = "a times 3 with count as ?n, min(?v) as ?lo, max(?v) as ?hi, avg(?v) as ?m, sum(?v) as ?s where ?m > 2"
    [found] = detect(text, *history)
    values = {name: term.value for name, term in found.bindings[0].items()}
    assert values == {"n": "3", "lo": "1", "hi": "6", "m": "3", "s": "9"}
    [found] = detect("a times 1 with avg(?v) as ?m", match("a", 1, None, v("no number")))
    assert found.bindings == [{}]


def test_t6_a_row_is_used_up_or_loses_its_oldest():
    history = [match("a", second, None, v(second)) for second in (1, 2, 3, 4)]
    assert told(detect("a times 2", *history)) == [("a1", "a2"), ("a3", "a4")]
    assert told(detect("a times 2 reuse", *history)) == [("a1", "a2"), ("a2", "a3"), ("a3", "a4")]
    assert told(detect("a times 2 with sum(?v) as ?s where ?s > 4", *history)) == [("a2", "a3")]
    assert len(detect("a times * within 5s reuse", *history)) == 1


def test_t7_an_outlived_member_leaves_with_those_before_it():
    detector = Detector()
    detector.subscribe(composite("a times * within 5s"))
    for second, lifetime in ((1, 100), (2, 1), (4, 100), (5, 100)):
        detector.feed(match("a", second), lifetime=timedelta(seconds=lifetime))
    assert told(detector.advance(at(100))) == [("a4", "a5")]


def test_t8_an_open_row_ends_when_it_is_very_long():
    found = detect("a times * within 5s", *[match("a", number / 100) for number in range(COUNT_MAX + 1)])
    assert [len(each.event_ids) for each in found] == [COUNT_MAX, 1]


def test_v1_a_variable_that_occurs_elsewhere_is_taken_per():
    text = "(a(?x, ?v) times 2) before b(?x)"
    assert composite(text).pattern.operands[0].per == ("x",)
    history = [match("a", 1, None, x(1)), match("a", 2, None, x(2)), match("b", 3, None, x(1))]
    assert detect(text, *history) == []
    assert composite("(not a(?x) within 5s) and b(?x)").pattern.operands[0].per == ("x",)
    assert composite("a times 2").pattern.per == ()


def test_w1_what_comes_too_late_is_counted_kept_and_not_used():
    detector = Detector(lateness=timedelta(seconds=5))
    detector.subscribe(composite("a before b"))
    assert detector.feed(match("b", 10)) == []
    assert detector.feed(match("a", 5)) == []  # exactly as late as allowed
    assert detector.feed(match("a", 4.9)) == []
    assert [each.event_id for each in detector.late] == ["a4.9"]
    assert detector.counters.late == 1
    assert told(detector.advance(at(100))) == [("a5", "b10")]


def test_w2_neither_the_order_of_arrival_nor_the_steps_of_time_matter():
    history = [match("b", 9), match("a", 1), match("b", 4), match("a", 3)]
    detector = Detector(lateness=timedelta(seconds=10))
    detector.subscribe(composite("a before b"))
    found = [each for arriving in history for each in detector.feed(arriving)]
    found += [each for second in range(20) for each in detector.advance(at(second))]
    assert told(found) == told(detect("a before b", *history)) == [("a1", "b4"), ("a3", "b9")]


def test_w3_a_detection_is_told_after_the_delays_of_its_operators():
    for text, when in (
        ("a before c", 3),
        ("a and not b within 5s", 6),
        ("(a and not b within 5s) before c", 8),
        ("a times * within 4s", 5),
        ("(a or b)_3s", 4),
        ("((a and not b within 5s) times * within 4s) or c", 10),
    ):
        assert detect(text, match("a", 1), match("c", 3), until=when - 0.001) == [], text
        assert detect(text, match("a", 1), match("c", 3), until=when), text


def test_w4_a_negation_is_told_exactly_when_the_watermark_reaches_the_end_of_its_window():
    for text, end in (("not a within 5s", 6), ("a and not b within 5s", 6)):
        detector = Detector()
        detector.subscribe(composite(text))
        detector.feed(match("a", 1))
        assert detector.advance(at(5.999999)) == []
        assert len(detector.advance(at(end))) == 1
        # The stream falls silent, and resumes: nothing is told twice, and the next silence is.
        assert detector.advance(at(500)) == []
        detector.feed(match("a", 1000))
        assert detector.advance(at(1004)) == []
        assert len(detector.advance(at(2000))) == 1


def test_w5_a_composite_sees_what_ends_after_it_came():
    detector = Detector()
    detector.subscribe(composite("a before b", "early"))
    detector.feed(match("a", 1))
    detector.advance(at(2))
    detector.subscribe(composite("a before b", "late"))
    for each in (match("b", 3), match("a", 4), match("b", 5)):
        detector.feed(each)
    found = [(each.subscription_id, each.event_ids) for each in detector.advance(at(9))]
    assert found == [("early", ("a1", "b3")), ("early", ("a4", "b5")), ("late", ("a4", "b5"))]
