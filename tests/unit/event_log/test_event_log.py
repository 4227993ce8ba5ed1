"""The log as a list of events: what is appended is what is read, and what cannot be appended is refused."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ontosub.event_log import EVENTS, EventLog, EventLogError, EventLogReader, merging
from ontosub.model.errors import LimitError, UsageError


def event(number: int, size: int = 20) -> dict:
    return {
        "event_id": f"e{number}",
        "content_type": "text/turtle",
        "payload": bytes([number % 256]) * size,
        "time_start": None,
        "time_end": None,
    }


def rows(log: EventLogReader, start: int = 0, stop: int | None = None) -> list[dict]:
    return [row for batch in log.read(start, stop) for row in batch.to_pylist()]


def data_bytes(row: dict) -> int:
    return sum(len(row[name] or "") for name in ("event_id", "content_type", "payload"))


@pytest.fixture
def log(tmp_path: Path):
    with EventLog(tmp_path / "log", segment_bytes=4_000) as log:
        yield log


def test_what_is_appended_is_read(log):
    first = [event(0), event(1)]
    moment = datetime(2026, 1, 31, 12, tzinfo=timezone(timedelta(hours=2)))
    second = [{**event(2), "time_start": moment, "time_end": moment}]
    assert log.append(first) == range(0, 2)
    assert log.append(second) == range(2, 3)
    assert log.append([]) == range(3, 3)
    assert (log.start(), log.end()) == (0, 3)
    assert rows(log) == [*first, *second]
    assert rows(log, 1, 2) == [first[1]]
    assert rows(log, 3) == []
    assert next(log.read(0)).schema == EVENTS


def test_tables_in_other_shapes(log):
    table = pa.table(
        {
            "payload": pa.array([b"a", None], pa.large_binary()),
            "content_type": pa.array(["turtle", "turtle"]).dictionary_encode(),
            "event_id": pa.chunked_array([["x"], [None]], pa.large_string()),
            "time_start": pa.array([datetime(2026, 1, 1), None], pa.timestamp("ns")),
        }
    )
    log.append(table)
    log.append(table.slice(1))
    log.append(table.combine_chunks().to_batches()[0])
    whole = [
        {"event_id": "x", "content_type": "turtle", "payload": b"a", "time_start": datetime(2026, 1, 1, tzinfo=UTC)},
        {"event_id": None, "content_type": "turtle", "payload": None, "time_start": None},
    ]
    assert rows(log) == [{**row, "time_end": None} for row in [*whole, whole[1], *whole]]


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([{"event_id": "e", "payload": b""}], "lack the column content_type"),
        ([{**event(1), "shop": "a"}], "no column shop"),
        ([event(1), {**event(2), "event_id": 7}], "a row is no event"),
        ([event(1), {**event(2), "time_start": "noon"}], "a row is no event"),
        ([("e", "turtle", b"")], "list of dicts"),
        ("events", "list of dicts"),
        (pa.table({"event_id": [1], "content_type": ["x"], "payload": [[1]]}), "the column payload is of type list"),
        (
            pa.table({"event_id": pa.array([b"\xff"]).view(pa.string()), "content_type": ["x"], "payload": [b""]}),
            "not valid",
        ),
    ],
)
def test_what_is_no_event_is_refused(log, events, told):
    with pytest.raises(UsageError, match=told):
        log.append(events)
    assert log.end() == 0


def test_an_append_that_is_too_large_is_refused(log, monkeypatch):
    monkeypatch.setattr("ontosub.event_log.events.APPEND_BYTES_MAX", 1 << 20)
    with pytest.raises(LimitError, match="2 MiB is over the limit of 1 MiB"):
        log.append([event(0, 2 << 20)])
    log.append([event(0)])
    assert rows(log) == [event(0)]


def test_times_of_publishing(log):
    noon = datetime(2026, 1, 31, 12, 0, 0, 123456, tzinfo=UTC)
    log.append([event(0), event(1)], published_at=noon)
    before = datetime.now(UTC)
    log.append([event(2)])
    assert log.published_at(0) == log.published_at(1) == noon
    assert before <= log.published_at(2) <= datetime.now(UTC)
    with pytest.raises(UsageError, match="published_at is 2026-01-01 00:00:00: it needs a time zone"):
        log.append([event(3)], published_at=datetime(2026, 1, 1))


def test_one_writer(log):
    with pytest.raises(EventLogError, match="in use: another process writes to it") as caught:
        EventLog(log.directory)
    assert caught.value.path == str(log.directory)
    log.append([event(0)])
    log.close()
    with pytest.raises(UsageError, match="has been closed"):
        log.append([event(1)])
    with pytest.raises(UsageError, match="has been closed"):
        log.truncate_before(1)
    with EventLog(log.directory) as other:
        assert other.append([event(1)]) == range(1, 2)


def test_bounds(log):
    log.append([event(0)])
    for start, stop in [(0, 2), (2, 2), (-1, 1), (1, 0)]:
        with pytest.raises(UsageError, match="it ends at 1"):
            list(log.read(start, stop))


def test_small_appends_are_merged_and_large_ones_cut(log, monkeypatch):
    monkeypatch.setattr(merging, "ROWS_MAX", 10)
    monkeypatch.setattr(merging, "BYTES_MAX", 10_000)
    for number in range(20):
        log.append([event(number)])
    log.append([event(number) for number in range(20, 45)])
    log.append([event(number, 4_000) for number in range(45, 50)])
    sizes = [batch.num_rows for batch in log.read(0)]
    assert sizes == [10, 10, 10, 10, 7, 2, 1]  # the last eight: five small ones and two large, two large, one
    assert max(batch.nbytes for batch in log.read(0)) < 10_000
    assert [row["event_id"] for row in rows(log)] == [f"e{number}" for number in range(50)]


def test_a_large_append_is_not_copied(log):
    log.append([event(number, 1_000) for number in range(100)])
    before = pa.total_allocated_bytes()
    batches = list(log.read(0))
    assert sum(batch.num_rows for batch in batches) == 100
    assert pa.total_allocated_bytes() - before < 10_000


def test_sizes_are_exact(log):
    events = [event(number, 50 * (number % 7)) for number in range(60)]
    for start, stop in [(0, 1), (1, 30), (30, 31), (31, 60)]:
        log.append(events[start:stop])
    for start, stop in [(0, 0), (0, 60), (0, 13), (13, 44), (30, 31), (59, 60), (60, 60)]:
        assert log.bytes_between(start, stop) == sum(map(data_bytes, events[start:stop]))


def test_reach(log):
    events = [event(number, 50 * (number % 7)) for number in range(60)]
    log.append(events[:25])
    log.append(events[25:])
    sizes = [data_bytes(each) for each in events]
    assert log.reach(0) == 60
    assert log.reach(10, max_events=20) == 30
    assert log.reach(50, max_events=20) == 60
    assert log.reach(60, max_events=20, max_bytes=1) == 60
    for start in range(60):
        for limit in [1, 100, 1_000, 100_000]:
            reached = log.reach(start, max_bytes=limit)
            assert reached == start + 1 or sum(sizes[start:reached]) <= limit
            assert reached == 60 or sum(sizes[start : reached + 1]) > limit


def test_a_place_saves_the_search(log):
    for number in range(200):
        log.append([event(number, 3_000)])
    place = log.place(150)
    assert place.offset == 150
    assert rows(EventLogReader(log.directory), 0, 1) == [event(0, 3_000)]
    other = EventLogReader(log.directory)
    assert [row for batch in other.read(150, 152, place=place) for row in batch.to_pylist()] == [
        event(150, 3_000),
        event(151, 3_000),
    ]


def test_retention_removes_whole_segments(log):
    for number in range(30):
        log.append([event(number, 500)])
    reader = EventLogReader(log.directory)
    assert rows(reader, 0, 1) == [event(0, 500)]
    start = log.truncate_before(20)
    assert 0 < start <= 20
    assert start == log.start()
    assert rows(reader, start) == [event(number, 500) for number in range(start, 30)]
    assert reader.bytes_between(start, 30) == sum(data_bytes(event(number, 500)) for number in range(start, 30))
    with pytest.raises(EventLogError, match=f"event 0 is no longer kept: its first event is {start}"):
        rows(reader, 0, 1)
    with pytest.raises(EventLogError, match="no longer kept"):
        rows(EventLogReader(log.directory), start - 1)
    last = log.truncate_before(10_000)
    assert last < 30
    assert log.append([event(30)]) == range(30, 31)
    assert rows(log, last)[-1] == event(30)


def test_a_reader_sees_a_growing_prefix(log):
    """Reads in one thread, with its own handle, while another appends: never a gap, never a half."""
    total = 300
    seen: list[int] = []
    faults: list[BaseException] = []

    def follow() -> None:
        reader = EventLogReader(log.directory)
        try:
            while len(seen) < total:
                stop = reader.end()
                assert reader.bytes_before(stop) >= stop * 30
                seen.extend(int(row["event_id"][1:]) for row in rows(reader, len(seen), stop))
        except BaseException as error:
            faults.append(error)

    thread = threading.Thread(target=follow)
    thread.start()
    try:
        for number in range(0, total, 3):
            log.append([event(number + each, 60) for each in range(3)])
    finally:
        thread.join()
    assert not faults
    assert seen == list(range(total))


def test_threads_may_append(log):
    def publish(who: int) -> None:
        for number in range(20):
            log.append([event(100 * who + number), event(100 * who + number)])

    threads = [threading.Thread(target=publish, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = [row["event_id"] for row in rows(log)]
    assert ids[::2] == ids[1::2]
    assert sorted(set(ids)) == sorted(f"e{100 * who + number}" for who in range(4) for number in range(20))


def test_what_is_no_log_is_refused(tmp_path):
    with pytest.raises(EventLogError, match="there is no such directory"):
        EventLogReader(tmp_path / "nowhere").end()
    with pytest.raises(EventLogError, match="it has no file end"):
        EventLogReader(tmp_path).start()
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(EventLogError, match=r"it holds 'notes\.txt'"):
        EventLog(tmp_path)
    with pytest.raises(EventLogError, match=r"notes\.txt/lock: not a directory"):
        EventLog(tmp_path / "notes.txt")
    with pytest.raises(UsageError, match="segment_bytes is 0"):
        EventLog(tmp_path / "log", segment_bytes=0)


def test_each_log_has_an_identity(tmp_path):
    with EventLog(tmp_path / "a") as one, EventLog(tmp_path / "b") as two:
        assert one.id() != two.id()
        known = one.id()
    with EventLog(tmp_path / "a") as one:
        assert one.id() == known


class ListModel(RuleBasedStateMachine):
    """A log is a list, whatever is done to it in whichever order."""

    def __init__(self) -> None:
        super().__init__()
        self.model: list[dict] = []
        self.kept = 0

    @initialize(segment_bytes=st.sampled_from([1, 1_500, 4_000, 1 << 20]))
    def begin(self, segment_bytes: int) -> None:
        from tempfile import TemporaryDirectory

        self.folder = TemporaryDirectory()
        self.segment_bytes = segment_bytes
        self.log = EventLog(Path(self.folder.name) / "log", segment_bytes=segment_bytes)
        self.reader = EventLogReader(self.log.directory)

    @rule(sizes=st.lists(st.integers(0, 400), max_size=8))
    def append(self, sizes: list[int]) -> None:
        events = [event(len(self.model) + number, size) for number, size in enumerate(sizes)]
        before = len(self.model)
        self.model += events
        assert self.log.append(events) == range(before, len(self.model))

    @rule()
    def reopen(self) -> None:
        self.log.close()
        self.log = EventLog(self.log.directory, segment_bytes=self.segment_bytes)

    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        offset = data.draw(st.integers(0, len(self.model) + 2))
        start = self.log.truncate_before(offset)
        assert self.kept <= start <= max(self.kept, min(offset, len(self.model)))
        self.kept = start

    @precondition(lambda self: self.kept < len(self.model))
    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        start = data.draw(st.integers(self.kept, len(self.model)))
        stop = data.draw(st.integers(start, len(self.model)))
        for log in (self.log, self.reader, EventLogReader(self.log.directory)):
            assert rows(log, start, stop) == self.model[start:stop]
            assert log.bytes_between(start, stop) == sum(map(data_bytes, self.model[start:stop]))

    @invariant()
    def ends(self) -> None:
        if hasattr(self, "log"):
            assert self.reader.end() == len(self.model)
            assert self.reader.start() == self.kept

    def teardown(self) -> None:
        if hasattr(self, "log"):
            self.log.close()
            self.folder.cleanup()


TestListModel = ListModel.TestCase
TestListModel.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
