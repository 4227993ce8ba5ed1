"""What is left after crashes, on full disks and on damaged ones: every acknowledged event, nothing by halves."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import accumulate
from pathlib import Path
from types import SimpleNamespace

import pytest

from ontosub import disk
from ontosub.event_log import EventLog, EventLogError, EventLogReader, end
from ontosub.event_log import log as appending

FOLDER = Path(__file__).parent
APPENDS = [1, 3, 2, 1, 2]
"""As in crash_points.py."""


def event(number: int) -> dict:
    return {"event_id": f"e{number}", "content_type": "turtle", "payload": bytes([65 + number]) * 40}


def rows(log: EventLogReader) -> list[dict]:
    whole = [row for batch in log.read(log.start()) for row in batch.to_pylist()]
    return [{name: row[name] for name in ("event_id", "content_type", "payload")} for row in whole]


def run(program: str, *arguments: object) -> str:
    command = [sys.executable, str(FOLDER / program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def unsynced(monkeypatch):
    """Leave out waiting for the disk, in tests that damage files themselves and open logs by the thousand."""
    calls = SimpleNamespace(**{**vars(os), "fsync": lambda descriptor: None})
    for module in (disk, end, appending):
        monkeypatch.setattr(module, "os", calls)


@pytest.mark.parametrize("moment", ["before", "halfway"])
def test_death_at_every_call(tmp_path, moment, unsynced):
    run("crash_points.py", tmp_path, moment)
    ends = [0, *accumulate(APPENDS)]
    cases = sorted(tmp_path.iterdir())
    seen = set()
    for case in cases:
        acked = int(([0, *(case / "acked").read_text().split()])[-1]) if (case / "acked").exists() else 0
        unacked = ends[min(ends.index(acked) + 1, len(ends) - 1)]
        if (case / "log" / "end").exists():
            visible = rows(EventLogReader(case / "log"))
            assert visible in ([event(each) for each in range(acked)], [event(each) for each in range(unacked)])
        with EventLog(case / "log", segment_bytes=1_600) as log:
            kept = log.end()
            assert kept in (acked, unacked)
            assert rows(log) == [event(each) for each in range(kept)]
            log.append([event(kept), event(kept + 1)])
            log.append([event(kept + 2)])
            assert rows(log) == [event(each) for each in range(kept + 3)]
            assert log.bytes_before(log.end()) == sum(46 + len(event(each)["event_id"]) for each in range(kept + 3))
        seen.add((acked, kept))
    assert len(cases) > 40
    assert {acked for acked, _ in seen} == set(ends)
    # An append that had reached the disk, but had not been acknowledged, is there; one that had not is not.
    assert {(0, 0), (0, 1), (1, 1), (1, 4), (9, 9)} <= seen


def numbered(number: int) -> bytes:
    """As in endless_writer.py."""
    return f"{number} ".encode() * (1 + number % 50)


def test_sigkill_at_any_time(tmp_path):
    for lines in (1, 7, 40, 3, 90):
        command = [sys.executable, str(FOLDER / "endless_writer.py"), str(tmp_path / "log")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            acked = [int(writer.stdout.readline()) for _ in range(lines)][-1]
            with pytest.raises(EventLogError, match="in use"):
                EventLog(tmp_path / "log")
            assert EventLogReader(tmp_path / "log").end() >= acked
            writer.kill()
        with EventLog(tmp_path / "log", segment_bytes=20_000) as log:
            assert log.end() >= acked
            found = rows(log)
            assert [row["event_id"] for row in found] == [str(each) for each in range(log.end())]
            assert [row["payload"] for row in found] == [numbered(each) for each in range(log.end())]


@pytest.fixture
def torn(tmp_path, unsynced):
    """Return a log with its segment, the end that was noted before its last append, and where that begins."""
    directory = tmp_path / "log"
    with EventLog(directory) as log:
        log.append([event(0), event(1)])
        (segment,) = directory.glob("*.events")
        noted, position = (directory / "end").read_bytes(), segment.stat().st_size
        log.append([event(2)])
    return directory, segment, noted, position


def test_a_tail_torn_at_every_byte(torn):
    directory, segment, noted, position = torn
    whole = segment.read_bytes()
    for length in range(position, len(whole)):
        segment.write_bytes(whole[:length])
        (directory / "end").write_bytes(noted)
        assert rows(EventLogReader(directory)) == [event(0), event(1)]
        with EventLog(directory) as log:
            assert segment.stat().st_size == position
            assert rows(log) == [event(0), event(1)]
            assert log.append([event(2)]) == range(2, 3)
        assert rows(EventLogReader(directory)) == [event(0), event(1), event(2)]


def test_a_tail_altered_at_every_byte(torn):
    directory, segment, noted, position = torn
    whole = bytearray(segment.read_bytes())
    for place in range(position, len(whole)):
        damaged = whole.copy()
        damaged[place] ^= 0x10
        segment.write_bytes(damaged)
        (directory / "end").write_bytes(noted)
        with EventLog(directory) as log:
            assert rows(log) == [event(0), event(1)]


def test_a_whole_append_behind_the_end_is_kept(torn):
    directory, _, noted, _ = torn
    (directory / "end").write_bytes(noted)
    assert rows(EventLogReader(directory)) == [event(0), event(1)]
    with EventLog(directory) as log:
        assert rows(log) == [event(0), event(1), event(2)]


def test_damage_is_named_with_file_and_position(torn):
    """Nothing that was acknowledged is ever cut off or passed over in silence, whichever byte is hit."""
    directory, segment, _, position = torn
    whole = bytearray(segment.read_bytes())
    for place in range(len(whole)):
        damaged = whole.copy()
        damaged[place] ^= 0x10
        segment.write_bytes(damaged)
        with pytest.raises(EventLogError, match="corrupt") as caught:
            rows(EventLogReader(directory))
        assert caught.value.path == str(segment)
        assert caught.value.position == (0 if place < position else position)
    assert f"{segment}, byte {position}: the event log is corrupt" in str(caught.value)


def test_events_that_were_acknowledged_and_are_missing(torn):
    directory, segment, _, position = torn
    whole = segment.read_bytes()
    for length in (len(whole) - 1, position, 0):
        segment.write_bytes(whole[:length])
        with pytest.raises(EventLogError, match="the file ends here") as caught:
            EventLog(directory)
        assert (caught.value.path, caught.value.position) == (str(segment), length)
        with pytest.raises(EventLogError, match="the file ends here"):
            rows(EventLogReader(directory))
    assert EventLogReader(directory).end() == 3


def test_going_on_without_what_is_lost(torn):
    directory, segment, *_ = torn
    known = EventLogReader(directory).id()
    segment.write_bytes(segment.read_bytes()[:-1])
    (directory / "end").unlink()
    with EventLog(directory) as log:
        assert rows(log) == [event(0), event(1)]
        assert log.id() != known
        assert log.bytes_before(2) == 2 * 48


def test_a_missing_or_foreign_segment(tmp_path, unsynced):
    directory = tmp_path / "log"
    with EventLog(directory, segment_bytes=1) as log:
        for number in range(4):
            log.append([event(number)])
    _, second, third, last = sorted(directory.glob("*.events"))
    second_bytes = second.read_bytes()
    for content in (None, b""):
        second.unlink() if content is None else second.write_bytes(content)
        with pytest.raises(EventLogError, match="event 1 should follow, in a file of its own"):
            rows(EventLogReader(directory))
    second.write_bytes(third.read_bytes())
    with pytest.raises(EventLogError, match="event 1 should begin here") as caught:
        rows(EventLogReader(directory))
    assert (caught.value.path, caught.value.position) == (str(second), 0)
    second.write_bytes(second_bytes)
    (directory / f"{9:020}.events").write_bytes(b"")
    with pytest.raises(EventLogError, match="the log ends with event 3"):
        EventLog(directory)
    assert rows(EventLogReader(directory)) == [event(each) for each in range(4)]
    last.unlink()
    with pytest.raises(EventLogError, match="corrupt"):
        EventLog(directory)


def test_an_altered_end(torn):
    directory, *_ = torn
    data = (directory / "end").read_bytes()
    newer = max((0, 512), key=lambda start: data[start + 40])  # a byte of the offset
    (directory / "end").write_bytes(data[:newer] + b"?" + data[newer + 1 :])
    assert EventLogReader(directory).end() == 2
    with EventLog(directory) as log:
        assert rows(log) == [event(0), event(1), event(2)]
    for damaged in (b"", b"?" * len(data), bytes(len(data))):
        (directory / "end").write_bytes(damaged)
        with pytest.raises(EventLogError, match="does not tell where the log ends"):
            EventLogReader(directory).end()
        with pytest.raises(EventLogError, match="does not tell where the log ends"):
            EventLog(directory)


def test_a_file_that_cannot_grow(tmp_path):
    assert "refused at 3" in run("disk_full.py", tmp_path, "file")


def test_a_full_disk(tmp_path):
    mounted = f"mount -t tmpfs -o size=128k tmpfs '{tmp_path}'"
    own = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    try:
        subprocess.run([*own, mounted], check=True, capture_output=True, timeout=60)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this user may not mount a small disk of its own")
    program = f"{mounted} && '{sys.executable}' '{FOLDER / 'disk_full.py'}' '{tmp_path}' disk"
    done = subprocess.run([*own, program], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "refused at" in done.stdout
