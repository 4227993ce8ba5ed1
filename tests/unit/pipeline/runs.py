"""Pipelines that run in this process: a sink that keeps what it is given, and runs in threads of their own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa

from ontosub.composite.table import DETECTIONS
from ontosub.matching.batch import MATCHES
from ontosub.pipeline.batches import Done
from ontosub.pipeline.plan import Plan
from ontosub.pipeline.running import Running
from ontosub.sinks import Delivery, Sink

DEADLINE_S = 120.0


class Kept(Sink):
    """Keeps what it is given, and fails as often as it is told to."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int, tuple[str, ...]], list[dict[str, object]]] = {}
        self.failures: list[Exception] = []
        self.tried = threading.Event()
        self.is_open = False

    def open(self) -> None:
        self.is_open = True

    def deliver(self, delivery: Delivery) -> None:
        self.tried.set()
        if self.failures:
            raise self.failures.pop()
        rows = [row for table in delivery.tables() for row in table.to_pylist()]
        self.rows[delivery.batch, tuple(delivery.schema.names)] = rows

    def close(self) -> None:
        self.is_open = False

    def found(self) -> set[tuple[str, str]]:
        """Return who was notified of what."""
        return self._pairs(MATCHES, "event_id")

    def detected(self) -> set[tuple[str, str]]:
        """Return who was notified of which composite event."""
        return self._pairs(DETECTIONS, "detection_id")

    def _pairs(self, schema: pa.Schema, name: str) -> set[tuple[str, str]]:
        given = [row for (_, names), rows in self.rows.items() if names == tuple(schema.names) for row in rows]
        pairs = [(str(row["subscription_id"]), str(row[name])) for row in given]
        assert len(pairs) == len(set(pairs))
        return set(pairs)


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)  # between two looks at what another thread has done


class Run(Running):
    """A run in a thread of its own, with what it says and does."""

    def __init__(self, plan: Plan, spark) -> None:
        self.said: list[str] = []
        self.done: list[Done] = []
        self.failure: Exception | None = None
        super().__init__(plan, spark, say=lambda told: self.said.append(str(told)), on_done=self.done.append)

    @contextmanager
    def in_background(self) -> Iterator[Run]:
        def body() -> None:
            try:
                self.run()
            except Exception as error:
                self.failure = error

        thread = threading.Thread(target=body)
        thread.start()
        try:
            yield self
        finally:
            self.stop()
            thread.join(DEADLINE_S)
            assert not thread.is_alive()
