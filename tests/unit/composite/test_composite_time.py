"""Composites in event time: what wall clocks say when summer time ends, and moments at the ends of the calendar."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from watching import NAMES, composite

from ontosub import Binding, CompositeMatcher, Detector, Event, Interval, Match
from ontosub.composite.moments import FIRST, LAST, moment_of, ticks
from ontosub.composite.table import table_of
from ontosub.model.errors import UsageError
from ontosub.model.terms import Literal

BERLIN = ZoneInfo("Europe/Berlin")


def berlin(hour: int, minute: int, *, fold: int = 0, day: int = 25) -> datetime:
    """Return a moment of the night in which clocks go back from 3:00 to 2:00; with `fold`, after that."""
    return datetime(2026, 10, day, hour, minute, fold=fold, tzinfo=BERLIN)


def match(subscription: str, moment: datetime, end: datetime | None = None) -> Match:
    answer = Binding({"x": Literal(0), "v": Literal(0)})
    return Match(subscription, f"{subscription}{ticks(moment)}", [answer], None, Interval(moment, end or moment))


def watching(text: str, **options) -> Detector:
    detector = Detector(**options)
    detector.subscribe(composite(text))
    return detector


def found(text: str, *matches: Match, until: datetime | None = None) -> int:
    detector = watching(text)
    for each in matches:
        detector.feed(each)
    return len(detector.advance(until or datetime(9999, 12, 31, tzinfo=UTC)))


FIRST_245, SECOND_210 = berlin(2, 45), berlin(2, 10, fold=1)
"""25 minutes lie between them, though the second shows an earlier time."""


@pytest.mark.parametrize("first", [FIRST_245, FIRST_245.astimezone(UTC)], ids=["same zone", "two zones"])
def test_order_and_windows_when_summer_time_ends(first):
    pair = match("a", first), match("b", SECOND_210)
    for text in ("a before b", "a before b within 25 min", "a and b within 25 min", "(a or b) within 25 min"):
        assert found(text, *pair) == 1, text
    for text in ("b before a", "a before b within 24 min", "a and b within 24 min", "a and not b within 25 min"):
        assert found(text, *pair) == 0, text
    assert found("a and not b within 24 min", *pair) == 1
    assert found("a times 2 within 84 min", match("a", berlin(2, 45)), match("a", berlin(3, 10))) == 0
    assert found("a times 2 within 85 min", match("a", berlin(2, 45)), match("a", berlin(3, 10))) == 1


def test_an_hour_is_an_hour_when_summer_time_begins():
    before, after = (datetime(2026, 3, 29, hour, 30, tzinfo=BERLIN) for hour in (1, 3))
    assert found("a before b within 1 h", match("a", before), match("b", after)) == 1


def test_a_silence_lasts_as_long_as_it_says_when_summer_time_ends():
    detector = watching("not a within 2 h", start=berlin(1, 30))
    assert detector.advance(berlin(2, 29, fold=1)) == []
    [silence] = detector.advance(berlin(2, 30, fold=1))
    assert silence.interval == Interval(berlin(1, 30).astimezone(UTC), berlin(2, 30, fold=1).astimezone(UTC))


def test_the_watermark_does_not_go_back_with_the_clock():
    detector = watching("a before b", lateness=timedelta(minutes=5))
    for each in (match("a", berlin(2, 59)), match("b", berlin(2, 1, fold=1)), match("c", berlin(2, 10, fold=1))):
        told = detector.feed(each)
    assert len(told) == 1
    assert detector.counters.late == 0
    assert detector.watermark == berlin(2, 5, fold=1).astimezone(UTC) - timedelta(microseconds=1)
    assert detector.feed(match("a", berlin(2, 50))) == []  # shows a later time, and is a quarter of an hour too late
    assert detector.counters.late == 1


def test_a_lifetime_ends_when_it_says_when_summer_time_ends():
    for minutes, count in ((24, 0), (25, 1)):
        detector = watching("a before b", lifetime=timedelta(minutes=minutes))
        detector.feed(match("a", FIRST_245))
        detector.feed(match("b", SECOND_210))
        assert len(detector.advance(berlin(4, 0))) == count


def test_what_is_waited_for_is_told_in_utc():
    detector = watching("a before b within 25 min")
    detector.feed(match("a", FIRST_245))
    detector.advance(FIRST_245)
    [wait] = detector.waiting("t")
    assert (wait.until, wait.until.utcoffset()) == (SECOND_210.astimezone(UTC), timedelta(0))


def test_events_are_published_when_summer_time_ends():
    matcher = CompositeMatcher(lateness=timedelta(minutes=5))
    for each in NAMES.values():
        matcher.subscribe(each)
    matcher.subscribe(composite("a before a within 25 min"))
    payload = "<urn:e> <urn:x> 1 ; <urn:v> 1 ."
    moments = (FIRST_245, SECOND_210, berlin(3, 0))
    told = [matcher.publish(Event.read(payload, "turtle", id=str(at), time=at)).detections for at in moments]
    assert [len(each) for each in told] == [0, 0, 1]


EAST, WEST = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))


@pytest.mark.parametrize("zone", [EAST, ZoneInfo("Asia/Tokyo"), UTC], ids=str)
def test_moments_before_the_first_year_of_utc(zone):
    begin = datetime(1, 1, 1, tzinfo=zone)
    detector = watching("a before b within 1 h", lateness=timedelta(hours=1), start=begin)
    detector.feed(match("a", begin.replace(hour=15, minute=1)))
    detector.feed(match("b", begin.replace(hour=15, minute=30)))
    assert detector.watermark >= moment_of(FIRST)
    [detection] = detector.advance(begin.replace(hour=20))
    assert moment_of(FIRST) <= detection.interval.start <= detection.interval.end
    [row] = table_of([detection]).to_pylist()
    assert (row["time_start"], row["time_end"]) == (detection.interval.start, detection.interval.end)
    assert str(detection)
    detector.feed(match("a", begin.replace(hour=21)))
    detector.advance(begin.replace(hour=21))
    assert [wait.until >= moment_of(FIRST) for wait in detector.waiting("t")] == [True]


@pytest.mark.parametrize("zone", [WEST, ZoneInfo("America/New_York")], ids=str)
def test_what_happens_after_the_last_year_of_utc_is_refused(zone):
    with pytest.raises(UsageError, match="outside of the years 1 to 9999 in UTC"):
        match("a", datetime.max.replace(tzinfo=zone))


def test_the_last_moments_of_the_calendar():
    end = datetime.max.replace(tzinfo=UTC)
    detector = watching("a before b within 1 h", lateness=timedelta(0))
    detector.feed(match("a", end - timedelta(minutes=30)))
    detector.feed(match("b", end))
    assert detector.due <= ticks(end)
    [detection] = detector.advance(end)
    assert detection.interval.start <= detection.interval.end <= moment_of(LAST)
    [row] = table_of([detection]).to_pylist()
    assert row["time_end"] == moment_of(LAST)
    detector.feed(match("a", end))
    assert [wait.until for wait in detector.waiting("t")] == []


def test_what_was_held_before_1970_is_forgotten():
    detector = watching("a before b within 1 h")
    for hour in range(20):
        detector.feed(match("a", datetime(1960, 1, 1, hour, tzinfo=UTC)))
        detector.advance(datetime(1960, 1, 1, hour, 30, tzinfo=UTC))
    assert detector.due < 0  # all of it can be forgotten long before 1970
