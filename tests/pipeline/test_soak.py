"""A pipeline on a steady stream: once warm, its processes take no more memory, and it leaves no more files.

`ONTOSUB_SOAK_MINUTES` says how long; by default 2.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from pathlib import Path

import pytest

from ontosub.spark.java import find_java
from pipeline.pipelines import Pipeline, Run

MINUTES = float(os.environ.get("ONTOSUB_SOAK_MINUTES", "2"))
EVENTS_PER_S, APPENDS_PER_S = 200, 4
HEAP_MB, BESIDE_HEAP_MB = 512, 400
FILES_MAX = 1_500
MB = 1 << 20

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.full, pytest.mark.timeout(900 + 90 * MINUTES)]


class Stream(threading.Thread):
    """Publishes at a steady rate until it is told to end."""

    def __init__(self, pipeline: Pipeline) -> None:
        super().__init__()
        self._pipeline, self._over = pipeline, threading.Event()
        self.published = 0

    def run(self) -> None:
        start = time.monotonic()
        while not self._over.wait(1 / APPENDS_PER_S):
            self.published = round((time.monotonic() - start) * EVENTS_PER_S)
            self._pipeline.publish(self.published)

    def end(self) -> None:
        self._over.set()
        self.join()


def memory(run: Run) -> dict[str, int]:
    """Return the bytes that the driver, Spark's JVM, and all other processes have.

    A child that the JVM has just forked is a second one for a moment, whose memory is the first one's.
    """
    members = run.members()
    return {
        "driver": sum(each.memory() for each in members if each.pid == run.pid),
        "jvm": max(each.memory() for each in members if each.is_java),
        "workers": sum(each.memory() for each in members if each.pid != run.pid and not each.is_java),
    }


def live_heap(run: Run) -> int:
    """Return how many bytes the JVM's objects have after its garbage is collected, between two batches if need be."""
    (java,) = [each for each in run.members() if each.is_java]
    jcmd = find_java(os.environ) / "bin" / "jcmd"
    if not jcmd.exists():
        pytest.skip(f"there is no {jcmd} to ask for the heap")

    def used() -> int:
        told = [
            subprocess.run([jcmd, str(java.pid), ask], check=True, capture_output=True, text=True).stdout
            for ask in ("GC.run", "GC.heap_info")
        ]
        return sum(int(used) * 1024 for used in re.findall(r"generation +total \d+K, used (\d+)K", told[1]))

    return min(used() for _ in range(5))


def files(folder: Path) -> int:
    return sum(len(names) for _, _, names in os.walk(folder))


def test_memory_stays_flat(tmp_path):
    pipeline = Pipeline(tmp_path, max_events=1_000, spark={"spark.driver.memory": f"{HEAP_MB}m"})
    pipeline.publish(0)
    stream = Stream(pipeline)
    with pipeline.running() as run:
        stream.start()
        try:
            run.until(lambda: pipeline.count() > 0)
            thirds = [_third(run, pipeline.state) for _ in range(3)]
        finally:
            stream.end()
        pipeline.reach(run, 1)
        run.end()
    pipeline.check()
    _tell(thirds, stream.published)
    _, middle, last = thirds
    for kind in ("driver", "workers", "heap"):
        assert last[kind] <= 1.15 * middle[kind], kind
    assert last["jvm"] <= (HEAP_MB + BESIDE_HEAP_MB) * MB
    assert last["files"] <= FILES_MAX


def _third(run: Run, state: Path) -> dict[str, int]:
    """Watch for a third of the time, and return the most that there was of each."""
    most: dict[str, int] = {}
    end = time.monotonic() + MINUTES * 60 / 3
    while time.monotonic() < end:
        assert run.runs(), run.said()
        for kind, much in {**memory(run), "files": files(state)}.items():
            most[kind] = max(most.get(kind, 0), much)
        time.sleep(1)  # between two samples
    return {**most, "heap": live_heap(run)}


def _tell(thirds: list[dict[str, int]], published: int) -> None:
    print(f"{published:,} events in {MINUTES:g} minutes")
    for number, third in enumerate(thirds, 1):
        told = [f"{kind} {much / MB:.0f} MB" for kind, much in third.items() if kind != "files"]
        print(f"third {number}: {', '.join(told)}, {third['files']} files")
