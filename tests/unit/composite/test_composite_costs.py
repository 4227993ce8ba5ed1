"""What a match costs does not grow with what is held and cannot matter to it, and what is over leaves no trace."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import timedelta

import pytest
from watching import at, composite, match

from ontosub.composite import Detector
from ontosub.composite.moments import FOREVER


def lines(call: Callable[[], object]) -> int:
    """Return how many lines of Python a call runs."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    former = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(former)
    return count


@pytest.mark.parametrize(
    ("text", "fed"),
    [
        ("(a() or b()) within 1 h", "a"),
        ("a() and b() and c()", "a"),
        ("a() and b() and c()", "ab"),
        ("a() before b() within 1 h", "a"),
        ("a() before b() before c() within 1 h", "abbc"),
        ("a() and not b() within 1 h", "ab"),
        ("a() times * within 1 h", "a"),
        ("a() times 10000", "a"),
        ("not a() within 1 h", "a"),
    ],
)
def test_twice_as_many_matches_are_twice_the_work(text, fed):
    def work(count: int) -> int:
        detector = Detector()
        detector.subscribe(composite(text))
        stream = [match(fed[second % len(fed)], second / 10) for second in range(count)]

        def run():
            for each in stream:
                detector.feed(each)
                detector.advance(each.interval.end)

        return lines(run)

    assert work(800) < 2.3 * work(400)


def test_what_is_held_forever_costs_nothing_when_others_come_and_go():
    def work(held: int) -> int:
        detector = Detector()
        detector.subscribe(composite("a(?x) before b(?x)"))
        for number in range(held):
            detector.feed(match("a", 0, None, {"x": number}))
        detector.advance(at(0))

        def run():
            for second in range(1, 50):
                detector.feed(match("a", second, None, {"x": -second}), lifetime=timedelta(seconds=1))
                detector.advance(at(second))

        return lines(run)

    assert work(1000) < 1.2 * work(500)


def test_one_that_lives_on_does_not_keep_others():
    detector = Detector()
    detector.subscribe(composite("a() before b()"))
    detector.feed(match("a", 0))
    for second in range(1, 200):
        detector.feed(match("a", second), lifetime=timedelta(seconds=1))
        detector.advance(at(second))
        assert detector.counters.live <= 40
    assert len(detector.waiting("t")) == 2
    detector.advance(at(1000))
    assert [wait.event_ids for wait in detector.waiting("t")] == [("a0",)]


def test_members_that_are_outlived_are_not_shown():
    detector = Detector()
    detector.subscribe(composite("a times 3"))
    detector.feed(match("a", 0), lifetime=timedelta(seconds=5))
    detector.feed(match("a", 1))
    detector.advance(at(100))
    assert [wait.event_ids for wait in detector.waiting("t")] == [("a1",)]


def test_operators_that_are_gone_are_not_waited_for():
    detector = Detector(start=at(0))
    for _ in range(200):
        detector.subscribe(composite("not a within 36525 days"))
        detector.unsubscribe("t")
    assert detector.due == FOREVER
    assert len(detector._network._due) < 50
