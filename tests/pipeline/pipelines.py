"""A pipeline as a process of its own: what goes into it, what must come out of it, and how it is watched."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import NullPool, create_engine, text
from sqlalchemy.exc import DBAPIError

from ontosub import Subscription
from ontosub.composite import Detector
from ontosub.event_log import EventLog
from ontosub.languages.composite import parse_all
from ontosub.model import Interval, Match
from ontosub.spark.schemas import ARROW_EVENTS
from pipeline.processes import Process, in_session, kill_session

SUBSCRIPTIONS = {
    "cheap": "SELECT ?cheap { ?cheap a <urn:Computer> ; <urn:price> ?p FILTER(?p < 400) }",
    "all": "SELECT ?x { ?x a <urn:Computer> }",
    "round": "SELECT ?round { ?round <urn:price> 500 }",
}
COMPOSITES = {
    "seven": "all times 7",
    "drop": "round before cheap within 10 min",
    "quiet": "round and not cheap within 5 min",
}
ONTOLOGY = "<urn:Notebook> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:Computer> ."

FAST = {
    "spark.ui.enabled": "false",
    "spark.driver.extraJavaOptions": "-Xss16m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""Settings under which Spark starts sooner."""

DEADLINE_S = 240


def event(number: int) -> dict[str, object]:
    """Return the event of a number: a notebook with a price below 1000. One of a thousand cannot be read."""
    payload = b"oops" if number % 1000 == 999 else _payload(number)
    told = {"event_id": f"e{number}", "content_type": "application/n-triples", "payload": payload}
    return {**told, "time_start": _moment(number), "time_end": _moment(number)}


def _moment(number: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number)


def _payload(number: int) -> bytes:
    price = f'"{number % 1000}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:Notebook>"
    return f"<urn:n{number}> {kind} .\n<urn:n{number}> <urn:price> {price} .\n".encode()


def expected(count: int) -> set[tuple[str, str]]:
    """Return who must be notified of what, of the first so many events."""
    prices = [(f"e{number}", number % 1000) for number in range(count) if number % 1000 != 999]
    return (
        {("all", name) for name, _ in prices}
        | {("cheap", name) for name, price in prices if price < 400}
        | {("round", name) for name, price in prices if price == 500}
    )


@cache
def composed(count: int, lateness: timedelta) -> set[tuple[str, str]]:
    """Return who must be notified of which composite event, of the first so many events, all in time."""
    names = {name: Subscription.parse(rule, id=name) for name, rule in SUBSCRIPTIONS.items()}
    detector = Detector()
    for composite in parse_all(COMPOSITES, names=names).values():
        detector.subscribe(composite)
    numbers = {int(event_id[1:]) for _, event_id in expected(count)}
    for name, event_id in expected(count):
        detector.feed(Match(name, event_id, interval=Interval.instant(_moment(int(event_id[1:])))))
    if not numbers:
        return set()
    found = detector.advance(_moment(max(numbers)) - lateness - timedelta(microseconds=1))
    return {(each.subscription_id, each.key) for each in found}


def unreadable(count: int) -> list[str]:
    """Return which of the first so many events must be dead letters."""
    return [f"e{number}" for number in range(999, count, 1000)]


class Pipeline:
    """A pipeline from a log of events, or from files, to a SQL log, unless `sink` says otherwise.

    A micro-batch has at most `max_events` events. `options` and `spark` go into the configuration.
    """

    def __init__(
        self,
        folder: Path,
        *,
        max_events: int = 100,
        source: str = "log",
        sink: Mapping[str, object] | None = None,
        url: str = "",
        options: Mapping[str, object] | None = None,
        spark: Mapping[str, str] | None = None,
    ) -> None:
        self.folder, self._max_events = folder, max_events
        self._lateness, self._began = timedelta(seconds=2 * max_events), time.time_ns()
        (folder / "rules").mkdir()
        for name, rule in SUBSCRIPTIONS.items():
            (folder / "rules" / f"{name}.rq").write_text(rule)
        for name, composite in COMPOSITES.items():
            (folder / "rules" / f"{name}.composite").write_text(composite)
        (folder / "o.ttl").write_text(ONTOLOGY)
        log = {"kind": "sql", "url": url or f"sqlite:///{folder}/notifications.db"}
        places = {
            "log": {"kind": "log", "directory": "log", "max_events": max_events},
            "files": {"kind": "files", "path": "events", "format": "parquet", "max_files": 1},
        }
        told = {"ontology": "o.ttl", "subscriptions": "rules", "state": "state", **(options or {})}
        told["lateness"] = f"{2 * max_events} s"
        self.state = folder / str(told["state"])
        (folder / "p.toml").write_text(
            _toml(told)
            + f"[source]\n{_toml(places[source])}[[sinks]]\n{_toml(sink or log)}[[dead_letters]]\n{_toml(log)}"
            + f"[spark]\n{_toml({**FAST, **(spark or {})})}"
        )
        self._log = EventLog(folder / "log") if source == "log" else None
        (folder / "events").mkdir()
        self._published = 0
        self._reading = create_engine(
            url.replace("postgresql:", "postgresql+psycopg:")
            or f"sqlite:///file:{folder}/notifications.db?mode=ro&uri=true",
            poolclass=NullPool,
        )

    def publish(self, count: int) -> None:
        """Publish the next events, of which there are `count` then."""
        new = [event(number) for number in range(self._published, count)]
        if self._log is not None:
            self._log.append(new)
        else:
            for start in range(0, len(new), self._max_events):
                self._put(pa.Table.from_pylist(new[start : start + self._max_events], schema=ARROW_EVENTS))
        self._published = count

    def _put(self, table: pa.Table) -> None:
        number = len(list((self.folder / "events").iterdir()))
        path = self.folder / f".{number:06d}.parquet"
        pq.write_table(table, path)
        at = self._began + number * 10_000_000  # Spark goes by these, in milliseconds: so files are read in order
        os.utime(path, ns=(at, at))
        path.rename(self.folder / "events" / path.name[1:])

    @contextmanager
    def running(self, *options: str) -> Iterator[Run]:
        """Run it, and see that nothing of it is left afterwards."""
        run = Run([str(self.folder / "p.toml"), "--quiet", *options], self.folder / "said")
        try:
            yield run
        finally:
            run.kill()

    def run_once(self) -> None:
        """Run it until all is delivered."""
        with self.running("--once") as run:
            assert run.ended() == 0, run.said()

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """Ask the database; nothing is there while it is not."""
        try:
            with self._reading.connect() as connection:
                return [tuple(row) for row in connection.execute(text(query))]
        except DBAPIError:
            return []

    def count(self) -> int:
        """Return how many notifications there are."""
        (count,) = next(iter(self.rows("SELECT SUM(rows) FROM deliveries WHERE kind = 'matches'")), [None])
        return 0 if count is None else int(str(count))

    def delivered(self) -> set[object]:
        """Return the batches whose matches are delivered."""
        return {row[0] for row in self.rows("SELECT batch FROM deliveries WHERE kind = 'matches'")}

    def staged(self) -> set[object]:
        """Return the batches that are ready to be delivered, or have been."""
        first = json.loads((self.state / "pipeline.json").read_text())["first_batch"]
        return {first + int(path.stem) for path in self.state.glob("staging/*.json")}

    def reach(self, run: Run, share: float) -> None:
        """Wait until a run has delivered a share of what was published."""
        point = share * len(expected(self._published))
        run.until(lambda: self.count() >= point)

    def check(self) -> None:
        """Check that exactly what was published is there, once, and exactly the composite events."""
        self.check_notified(self.rows("SELECT subscription_id, event_id FROM notifications"))
        rejected = [str(row[0]) for row in self.rows("SELECT event_id FROM dead_letters")]
        assert sorted(rejected) == sorted(unreadable(self._published))

    def check_notified(self, found: Sequence[tuple[object, ...]]) -> None:
        """Check that these are the notifications of all that was published, each once."""
        assert len(found) == len(set(found))
        assert set(found) == expected(self._published) | composed(self._published, self._lateness)


class Run:
    """One run of a pipeline, in a session of its own."""

    def __init__(self, arguments: list[str], said: Path) -> None:
        self._said = said
        with said.open("w") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ontosub", "run", *arguments], stderr=stderr, start_new_session=True
            )
        self.pid = self._process.pid

    def said(self) -> str:
        """Return all that was said on standard error."""
        return self._said.read_text()

    def runs(self) -> bool:
        """Return whether it has not ended."""
        return self._process.poll() is None

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for what is to happen while it runs."""
        self._wait(lambda: condition() or not self.runs())
        assert condition() or self.runs(), self.said()

    def ended(self) -> int:
        """Wait for the end, and return the exit code."""
        self._wait(lambda: not self.runs())
        return int(self._process.returncode)

    def end(self) -> None:
        """Ask it to end, and wait until it has."""
        self.signal(signal.SIGTERM)
        assert self.ended() == 0, self.said()

    def gone(self) -> None:
        """Wait until there is no process of it any more."""
        self._wait(lambda: not self.runs() and not in_session(self.pid))

    def signal(self, number: int) -> None:
        """Send a signal to the driver alone."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill all of it at once, as a power cut would."""
        kill_session(self.pid)
        self._process.wait()

    def members(self) -> list[Process]:
        """Return all of its processes."""
        return in_session(self.pid)

    def _wait(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.02)  # between two looks at what another process has done


def _toml(told: Mapping[str, object]) -> str:
    return "".join(f'"{name}" = {_value(value)}\n' for name, value in told.items())


def _value(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()
