"""What every sink keeps: a micro-batch is there once, whatever happened on the way."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
import sqlalchemy

from ontosub.sinks import Delivery, Sink, from_options
from ontosub.sinks.rows import EVENT_COLUMNS, KINDS, json_objects
from ontosub.sinks.sql_tables import LOGGED, NOTIFICATIONS
from servers.receiver import Receiver

pytest_plugins = ["servers.postgres"]
pytestmark = pytest.mark.xdist_group("postgres")

Rows = list[dict[str, Any]]

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
ODD_IDS = [
    "e",
    "",
    " ",
    "../../etc/passwd",
    "a'b\"c\\d",
    "%s %(x)s :y ?",
    "tab\tline\nreturn\rend",
    "\\N",
    "\\.",
    "é",
    "e\u0301",
    "\u2028 \u0085",
    "\U0001f98a",
    "\ufeff\u200f",
    "a\0b",
    "a\ufffdb",
    "E",
    "long" * 2000,
]


class Place(Protocol):
    """Where a sink delivers to."""

    kind: str
    options: dict[str, object]
    whole: bool
    """Whether nobody ever sees half a batch."""

    def rows(self, kind: str) -> Rows:
        """Return what is there, as JSON objects with the pipeline and the batch."""

    def shown(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return a row as it looks there."""


class FilePlace:
    whole = True

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self._folder = folder / "out"
        self.options: dict[str, object] = {"path": str(self._folder)}

    def rows(self, kind: str) -> Rows:
        if not (self._folder / kind).exists():
            return []
        return self._parquet(kind) if self.kind == "parquet" else self._json(kind)

    def _parquet(self, kind: str) -> Rows:
        names = pa.schema([("pipeline", pa.string()), ("batch", pa.int64())])
        layout = pyarrow.dataset.partitioning(names, flavor="hive")
        schema = pa.unify_schemas([KINDS[kind], names])
        files = pyarrow.dataset.dataset(self._folder / kind, schema, format="parquet", partitioning=layout)
        return list(json_objects(files.to_table()))

    def _json(self, kind: str) -> Rows:
        found: Rows = []
        for file in sorted((self._folder / kind).glob("pipeline=*/batch=*/*.json")):
            pipeline, batch = (part.partition("=")[2] for part in file.parts[-3:-1])
            lines = file.read_text(encoding="utf-8").split("\n")
            assert lines.pop() == ""
            found += [{**json.loads(line), "pipeline": pipeline, "batch": int(batch)} for line in lines]
        return found

    def shown(self, row: dict[str, Any]) -> dict[str, Any]:
        return row


class SqlPlace:
    kind = "sql"
    whole = True

    def __init__(self, url: str) -> None:
        self.options: dict[str, object] = {"url": url}
        self._url = url.replace("postgresql:", "postgresql+psycopg:")

    def rows(self, kind: str) -> Rows:
        engine = sqlalchemy.create_engine(self._url)
        table, renamed = LOGGED[kind], {EVENT_COLUMNS[kind]: "event_id"}
        names = (*KINDS[kind].names, "pipeline", "batch")
        query = sqlalchemy.select(*(table.c[renamed.get(name, name)].label(name) for name in names))
        if table is NOTIFICATIONS:  # which matches and detections share
            is_match = table.c.event_ids.is_(sqlalchemy.null())
            query = query.where(is_match if kind == "matches" else ~is_match)
        try:
            with engine.connect() as connection:
                rows = connection.execute(query).mappings().all()
        finally:
            engine.dispose()
        return [self._as_json(dict(row), kind) for row in rows]

    def _as_json(self, row: dict[str, Any], kind: str) -> dict[str, Any]:
        extra = {name: row.pop(name) for name in ("pipeline", "batch")}
        if "bindings" in row:
            row["bindings"] = [list(binding.items()) for binding in row["bindings"]]
        if "constituents" in row:
            row["constituents"] = json.dumps(row["constituents"])
        [made] = json_objects(pa.Table.from_pylist([row], schema=KINDS[kind]))
        return {**made, **extra}

    def shown(self, row: dict[str, Any]) -> dict[str, Any]:
        texts = {"event_id", "detection_id", "subscription_id", "content_type", "reason"} & row.keys()
        return {**row, **{name: row[name] and row[name].replace("\0", "\ufffd") for name in texts}}


class WebhookPlace:
    kind = "webhook"
    whole = False

    def __init__(self, receiver: Receiver, folder: Path) -> None:
        self.receiver = receiver
        self.options: dict[str, object] = {
            "url": receiver.url,
            "state": str(folder / "state.db"),
            "rows_per_request": 7,
        }

    def rows(self, kind: str) -> Rows:
        sent = {(request.key, request.body) for request in self.receiver.requests}
        assert len(sent) == len({key for key, _ in sent}), "what is sent again is the same"
        bodies = [body for body in self.receiver.applied() if body["kind"] == kind]
        return [
            {**row, "pipeline": body["pipeline"], "batch": body["batch"]} for body in bodies for row in body["rows"]
        ]

    def shown(self, row: dict[str, Any]) -> dict[str, Any]:
        return row


@pytest.fixture(params=["parquet", "json", "sqlite", "postgresql", "webhook"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    match request.param:
        case "sqlite":
            yield SqlPlace(f"sqlite:///{tmp_path}/log.db")
        case "postgresql":
            yield SqlPlace(request.getfixturevalue("postgres").create_database())
        case "webhook":
            receiver = Receiver()
            yield WebhookPlace(receiver, tmp_path)
            receiver.close()
        case kind:
            yield FilePlace(kind, tmp_path)


def kind_of_rows(rows: Rows) -> str:
    """Return which kind they are; without any, "matches"."""
    return next((kind for kind, schema in KINDS.items() if rows and rows[0].keys() == set(schema.names)), "matches")


class Staging:
    """Makes deliveries: each time in other files and in another order."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made = 0

    def __call__(self, rows: Rows, batch: int = 0, pipeline: str = "p") -> Delivery:
        self._made += 1
        chance = random.Random(self._made)
        schema = KINDS[kind_of_rows(rows)]
        mixed = chance.sample(rows, len(rows))
        cuts = sorted(chance.choices(range(len(rows) + 1), k=2))
        files = []
        for number, (start, end) in enumerate(zip([0, *cuts], [*cuts, len(rows)], strict=True)):
            files.append(self._folder / f"staged-{self._made}-{number}.parquet")
            pq.write_table(pa.Table.from_pylist(mixed[start:end], schema=schema), files[-1])
        return Delivery(pipeline, batch, schema, tuple(files))


@pytest.fixture
def staged(tmp_path: Path) -> Staging:
    (tmp_path / "staging").mkdir()
    return Staging(tmp_path / "staging")


@pytest.fixture
def opened(place: Place) -> Iterator[Callable[[], Sink]]:
    """Return what opens the sink of the place anew, as after a restart."""
    sinks: list[Sink] = []

    def open_sink() -> Sink:
        sink = from_options(place.kind, place.options)
        sinks.append(sink)
        sink.open()
        return sink

    yield open_sink
    for sink in sinks:
        sink.close()


def matches(count: int, start: int = 0) -> Rows:
    return [
        {
            "event_id": f"e{number}",
            "subscription_id": f"s{number % 3}",
            "bindings": [[("x", f"<http://example.org/{number}>"), ("y", '"é\\u0000"@fr')], []],
            "time_start": NOON if number % 2 else None,
            "time_end": NOON.replace(microsecond=number) if number % 2 else None,
        }
        for number in range(start, start + count)
    ]


def rejects(count: int) -> Rows:
    return [
        {
            "event_id": f"e{number}" if number % 2 else None,
            "content_type": "text/turtle" if number % 3 else None,
            "payload": [b"\xff\x00", "é".encode(), b"", None][number % 4],
            "reason": f"no Turtle {number}",
            "line": number,
            "column": None,
        }
        for number in range(count)
    ]


def detections(count: int) -> Rows:
    return [
        {
            "subscription_id": f"s{number % 3}",
            "detection_id": f"d{number}",
            "bindings": [[[("x", "<urn:ü>"), ("y", "_:b0")], [("x", '"é\\u0000"@fr')]], [[]], []][number % 3],
            "time_start": NOON,
            "time_end": NOON.replace(microsecond=number),
            "event_ids": [["e1", "é\0"], []][number % 2],
            "constituents": json.dumps({"what": "before ü\0", "bindings": [], "constituents": [{"event_id": "e1"}]}),
        }
        for number in range(count)
    ]


def check(place: Place, *batches: tuple[Rows, int, str]) -> None:
    """Assert that these batches are there, each of their rows once, and nothing else."""
    for kind, schema in KINDS.items():
        wanted: Counter[str] = Counter()
        for rows, batch, pipeline in batches:
            if kind_of_rows(rows) == kind:
                for row in json_objects(pa.Table.from_pylist(rows, schema=schema)):
                    wanted[canonical({**place.shown(row), "pipeline": pipeline, "batch": batch})] += 1
        assert Counter(map(canonical, place.rows(kind))) == wanted


def canonical(row: dict[str, Any]) -> str:
    return json.dumps(row, sort_keys=True)


@pytest.mark.parametrize("make", [matches, rejects, detections])
def test_a_batch_that_comes_again_is_there_once(place, opened, staged, make):
    sink = opened()
    rows = make(20)
    sink.deliver(staged(rows))
    check(place, (rows, 0, "p"))
    sink.deliver(staged(rows))
    check(place, (rows, 0, "p"))
    sink.close()
    opened().deliver(staged(rows))
    check(place, (rows, 0, "p"))


def test_batches_and_kinds_are_kept_apart(place, opened, staged):
    sink = opened()
    first, second, dead, composite = matches(20), matches(10, start=20), rejects(15), detections(12)
    for rows in (first, dead, composite):
        sink.deliver(staged(rows, 7))
    sink.deliver(staged(second, 8))
    for rows in (dead, composite):
        sink.deliver(staged(rows, 7))
    check(place, (first, 7, "p"), (dead, 7, "p"), (composite, 7, "p"), (second, 8, "p"))


def test_pipelines_share_a_sink(place, opened, staged):
    rows = matches(12)
    one, other = opened(), opened()
    for pipeline, sink in {"p": one, "q/../r ä=%": other}.items():
        sink.deliver(staged(rows, 3, pipeline))
        sink.deliver(staged(rejects(4), 3, pipeline))
    one.deliver(staged(rows, 3))
    odd = "q/../r ä=%"
    if place.kind == "json":
        odd = "q%2F..%2Fr%20ä%3D%25"  # the folder's name, which this reader takes as it is
    check(place, (rows, 3, "p"), (rows, 3, odd), (rejects(4), 3, "p"), (rejects(4), 3, odd))


def test_batches_come_from_other_threads(place, opened, staged):
    sink = opened()
    for batch in range(2):
        with ThreadPoolExecutor(1) as thread:  # as Spark calls: from a thread of its own
            thread.submit(sink.deliver, staged(matches(9, start=9 * batch), batch)).result()
    check(place, (matches(9), 0, "p"), (matches(9, start=9), 1, "p"))


def test_empty_batches(place, opened, staged, tmp_path):
    sink = opened()
    for schema in KINDS.values():
        sink.deliver(Delivery("p", 0, schema, ()))
    sink.deliver(staged([], 1))
    check(place)
    sink.deliver(staged(matches(3), 2))
    sink.deliver(staged([], 3))
    check(place, (matches(3), 2, "p"))


def test_odd_ids(place, opened, staged):
    [template] = matches(1)
    rows = [{**template, "event_id": odd, "subscription_id": other} for odd in ODD_IDS for other in (odd, "s")]
    dead = [{**rejects(1)[0], "event_id": odd, "content_type": odd, "reason": odd} for odd in ODD_IDS]
    odd_tree = json.dumps({"what": "and", "constituents": [{"event_id": odd} for odd in ODD_IDS]})
    composite = [
        {
            **detections(1)[0],
            "detection_id": f"d {odd}",
            "subscription_id": odd,
            "event_ids": ODD_IDS,
            "constituents": odd_tree,
        }
        for odd in ODD_IDS
    ]
    sink = opened()
    for each in (rows, dead, composite, rows, composite):
        sink.deliver(staged(each))
    check(place, (rows, 0, "p"), (dead, 0, "p"), (composite, 0, "p"))


def test_huge_bindings_and_payloads(place, opened, staged):
    many = [[(f"v{column}", f'"{row}"') for column in range(10)] for row in range(20_000)]
    rows = [
        {**matches(1)[0], "bindings": many},
        {**matches(1, start=1)[0], "bindings": [[("nul", '"\0"'), ("x", '"' + "ä" * 3_000_000 + '"')]]},
        {**matches(1, start=2)[0], "bindings": []},
    ]
    dead = [{**rejects(1)[0], "payload": bytes(range(256)) * 20_000}]
    sink = opened()
    sink.deliver(staged(rows))
    sink.deliver(staged(dead))
    check(place, (rows, 0, "p"), (dead, 0, "p"))


def test_moments_at_the_ends_of_time(place, opened, staged):
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    rows = [{**row, "time_start": first, "time_end": last} for row in matches(2)]
    opened().deliver(staged(rows))
    check(place, (rows, 0, "p"))


@pytest.mark.parametrize("make", [matches, detections])
def test_moments_outside_of_the_calendar_are_those_at_its_ends(place, opened, staged, make):
    east, west = timezone(timedelta(hours=14)), timezone(-timedelta(hours=12))
    early, late = datetime.min.replace(tzinfo=east), datetime.max.replace(tzinfo=west)
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    outside = [{**row, "time_start": early, "time_end": late} for row in make(3)]
    held = [{**row, "time_start": first, "time_end": last} for row in outside]
    beside = make(6)[3:]  # rows of the same files
    opened().deliver(staged(outside + beside))
    check(place, (held + beside, 0, "p"))


# --- killed in the middle ---

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["pytest", "pyarrow.dataset", "ontosub.sinks.files", "ontosub.sinks.sql_log", "ontosub.sinks.webhook"]
)


def deliver_and_die(kind: str, options: dict[str, object], delivery: Delivery, last_call: int, calls: Any) -> None:
    """Deliver in this process, which is killed at the given call of a function, be it of Python or of C."""
    sink = from_options(kind, options)
    sink.open()
    made = 0

    def count(*_: object) -> None:
        nonlocal made
        made += 1
        if made == last_call:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)
    sink.deliver(delivery)
    sys.setprofile(None)
    sink.close()
    calls.value = made


def run_killed(place: Place, delivery: Delivery, last_call: int) -> int:
    """Return how many calls a delivery took that was to be killed; 0 if it was."""
    calls = FORKS.Value("q", 0)
    process = FORKS.Process(target=deliver_and_die, args=(place.kind, place.options, delivery, last_call, calls))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    process.close()
    return int(calls.value)


def marked(make: Callable[[int], Rows], batch: int) -> Rows:
    """Return rows that are of this batch only."""
    rows = make(30)
    name = EVENT_COLUMNS[kind_of_rows(rows)]
    return [{**row, name: f"{batch}-{row[name]}"} for row in rows]


@pytest.mark.parametrize("make", [matches, rejects, detections])
def test_killed_in_the_middle(place, opened, staged, make):
    done = []
    for batch in range(2):  # the first one makes folders, too, and takes more calls than others
        done.append((marked(make, batch), batch, "p"))
        total = run_killed(place, staged(*done[-1]), last_call=-1)
    check(place, *done)
    chance = random.Random(f"{place.kind} {make.__name__}")
    # Most is decided in the last calls: commits, renames, acknowledgements.
    points = [chance.randrange(total // 2), *chance.sample(range(total // 2, total), 3), total - chance.randrange(60)]
    killed = 0
    for batch, point in enumerate(points, 2):
        rows = marked(make, batch)
        killed += not run_killed(place, staged(rows, batch), max(1, point))
        if place.whole:
            there = sum(row["batch"] == batch for kind in KINDS for row in place.rows(kind))
            assert there in (0, len(rows))
        sink = opened()
        sink.deliver(staged(rows, batch))
        sink.close()
        done.append((rows, batch, "p"))
        check(place, *done)
    assert killed >= 3
