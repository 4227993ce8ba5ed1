"""A pipeline whose surroundings fail for a while: it says so, and its log holds exactly what it would hold anyway."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from pipeline.pipelines import Pipeline
from servers.receiver import Answer, Receiver

pytest_plugins = ["servers.postgres"]
pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.full, pytest.mark.timeout(900)]

full = [pytest.mark.full, pytest.mark.timeout(7200)]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Return a small file system."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True, text=True)
    except OSError as error:
        pytest.skip(f"a small file system cannot be mounted: {error}")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"a small file system cannot be mounted: {error.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path) -> Path:
    """Leave no room at all, and return the file that takes it."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    return filler


@pytest.mark.parametrize(("count", "outages"), [(2_000, 1), pytest.param(20_000, 10, marks=full)])
def test_a_full_disk(tmp_path, disk, count, outages):
    pipeline = Pipeline(tmp_path, max_events=count // 40, source="files", options={"state": "disk/state"})
    pipeline.publish(count)
    for outage in range(outages):
        with pipeline.running() as run:
            pipeline.reach(run, (outage + 1) / (outages + 2))
            filler = fill(disk)
            assert run.ended() == 1
            assert f"{pipeline.state}: no space left on device" in run.said()
        filler.unlink()
    pipeline.run_once()
    pipeline.check()


@pytest.mark.parametrize(("count", "outages"), [(2_000, 1), pytest.param(20_000, 10, marks=full)])
def test_a_database_that_is_down_for_a_while(tmp_path, postgres, count, outages):
    """It waits for it, and goes on by itself; asked to end meanwhile, it ends."""
    pipeline = Pipeline(tmp_path, max_events=count // 40, source="files", url=postgres.create_database())
    pipeline.publish(count)
    for outage in range(outages):
        with pipeline.running() as run:
            pipeline.reach(run, (outage + 1) / (outages + 2))
            postgres.stop()
            try:
                run.until(lambda: " waits: " in run.said())
                if outage % 2 == 0:
                    run.end()
            finally:
                postgres.start()
            if outage % 2:
                pipeline.reach(run, (outage + 1.5) / (outages + 2))
    with pipeline.running("--once") as run:
        pipeline.reach(run, (outages + 1) / (outages + 2))
        postgres.stop()
        try:
            run.until(lambda: " waits: " in run.said())
        finally:
            postgres.start()
        assert run.ended() == 0, run.said()
    pipeline.check()


def test_asked_to_end(tmp_path):
    """The batch at hand is delivered, and nothing after it."""
    pipeline = Pipeline(tmp_path, source="files")
    pipeline.publish(2_000)
    with pipeline.running() as run:
        run.until(lambda: pipeline.count() > 0)
        with closing(sqlite3.connect(tmp_path / "notifications.db", isolation_level=None, timeout=60)) as connection:
            connection.execute("BEGIN IMMEDIATE")  # who delivers must wait
            there = pipeline.delivered()
            run.until(lambda: not pipeline.staged() <= there)
            run.signal(signal.SIGTERM)
            connection.execute("ROLLBACK")
        assert run.ended() == 0, run.said()
        assert len(pipeline.delivered()) == len(there) + 1
        run.gone()
    with pipeline.running() as run:
        pipeline.reach(run, 0.5)
        for each in run.members():  # as service managers do: Spark's processes end, too, whatever they are doing
            each.signal(signal.SIGTERM)
        assert run.ended() == 0, run.said()
        run.gone()
    pipeline.run_once()
    pipeline.check()


@pytest.mark.parametrize("count", [1_000, pytest.param(20_000, marks=full)])
def test_a_webhook_that_fails_for_a_while(tmp_path, receiver, count):
    """Whatever is posted again under a key is what was posted under it before; the pipeline is killed, too."""
    sink = {"kind": "webhook", "url": receiver.url, "rows_per_request": 20}
    pipeline = Pipeline(tmp_path, max_events=count // 20, source="files", sink=sink)
    pipeline.publish(count)
    bad = [Answer(503), Answer(resets=True), Answer(429, {"Retry-After": "1"})]
    with pipeline.running() as run:
        for _ in range(count // 500):
            known = len(receiver.requests)
            receiver.answers.extend(bad)
            run.until(lambda known=known: len(receiver.requests) > known + len(bad) + 3)
    assert "waits: http://127.0.0.1" in (tmp_path / "said").read_text()
    pipeline.run_once()
    bodies: dict[str, bytes] = {}
    for request in receiver.requests:
        assert bodies.setdefault(request.key, request.body) == request.body
    rows = [row for body in receiver.applied() for row in body["rows"]]
    pipeline.check_notified([(row["subscription_id"], row.get("event_id") or row["detection_id"]) for row in rows])
    assert {json.loads(body)["kind"] for body in bodies.values()} == {"matches", "detections"}
