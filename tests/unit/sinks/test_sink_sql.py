"""The notification log: one transaction per delivery, numbers in the order of commits, faults that say what to do."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from sqlalchemy import func, select, text, update

from ontosub.model.errors import Unavailable, UsageError
from ontosub.sinks import Delivery
from ontosub.sinks.sink import ROWS_MAX
from ontosub.sinks.sql_engine import engine_of
from ontosub.sinks.sql_log import SqlLog
from ontosub.sinks.sql_pages import page
from ontosub.sinks.sql_tables import DEAD_LETTERS, DELIVERIES, LOG, NOTIFICATIONS, VERSION

pytest_plugins = ["servers.postgres"]
pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/log.db"
    return request.getfixturevalue("postgres").create_database()


@pytest.fixture
def log(url: str) -> Iterator[SqlLog]:
    sink = SqlLog(url)
    sink.open()
    yield sink
    sink.close()


def query(url: str, statement):
    engine = engine_of(url, 30)
    try:
        with engine.begin() as connection:
            result = connection.execute(statement)
            return result.all() if result.returns_rows else None
    finally:
        engine.dispose()


def events(url: str) -> list[str]:
    return [row.event_id for row in query(url, page(limit=10_000))]


def test_an_event_that_comes_twice_is_one_notification(url, log, stage):
    first = {"event_id": "e", "bindings": [[("x", '"first"')]]}
    log.deliver(stage(first, {"event_id": "f"}, batch=1))
    log.deliver(stage({**first, "bindings": []}, {"event_id": "g"}, {"event_id": "g"}, batch=2))
    log.deliver(stage(first, batch=1, pipeline="q"))
    rows = query(url, page())
    assert [(row.pipeline, row.event_id, row.batch) for row in rows] == [
        ("p", "e", 1),
        ("p", "f", 1),
        ("p", "g", 2),
        ("q", "e", 1),
    ]
    assert rows[0].bindings == [{"x": '"first"'}]
    counts = select(DELIVERIES.c.batch, DELIVERIES.c.kind, DELIVERIES.c.rows).order_by(DELIVERIES.c.created_at)
    assert [tuple(row) for row in query(url, counts)] == [(1, "matches", 2), (2, "matches", 3), (1, "matches", 1)]


def test_the_log_is_paged_by_number(url, log, stage):
    log.deliver(stage(*({"event_id": f"e{n}", "subscription_id": f"s{n % 2}"} for n in range(10)), batch=1))
    log.deliver(stage({}, kind="rejects", batch=1))
    log.deliver(stage(*({"event_id": f"f{n}", "subscription_id": "s0"} for n in range(3)), batch=2))
    after, seen = 0, []
    while rows := query(url, page(after, limit=4)):
        seen += [row.event_id for row in rows]
        after = rows[-1].number
    assert seen == [*(f"e{n}" for n in range(10)), *(f"f{n}" for n in range(3))]
    assert [row.event_id for row in query(url, page(subscription_id="s0", after=2))] == [
        "e2",
        "e4",
        "e6",
        "e8",
        "f0",
        "f1",
        "f2",
    ]
    assert query(url, select(DEAD_LETTERS.c.number)) == [(11,)]


def test_detections_are_notifications(url, log, stage):
    lone = {"detection_id": "silence", "bindings": [], "event_ids": []}
    deliveries = [
        stage({"event_id": "e1"}, batch=1),
        stage({}, batch=1, kind="rejects"),
        stage({}, lone, batch=1, kind="detections"),
        stage({"event_id": "e2"}, batch=2),
        stage({"bindings": []}, {"detection_id": "new"}, batch=2, kind="detections"),  # one of them is found again
    ]
    for delivery in deliveries:
        log.deliver(delivery)
        log.deliver(delivery)
    rows = query(url, page())
    assert [(row.number, row.batch, row.subscription_id, row.event_id) for row in rows] == [
        (1, 1, "s", "e1"),
        (3, 1, "fire", "d"),
        (4, 1, "fire", "silence"),
        (5, 2, "s", "e2"),
        (7, 2, "fire", "new"),
    ]
    match, detection, silence, *_ = rows
    assert detection.bindings == [{"room": "<urn:küche>", "by": "_:b0"}, {"room": '"1"'}]
    assert detection.time_start == detection.time_end == datetime(2024, 5, 1, 12, tzinfo=UTC)
    assert detection.event_ids == ["e1", "é 2"]
    assert detection.constituents == {"what": "before", "constituents": [{"what": "räuch", "event_id": "e1"}]}
    assert (silence.bindings, silence.event_ids) == ([], [])
    assert (match.event_ids, match.constituents) == (None, None)
    assert [row.event_id for row in query(url, page(subscription_id="fire", after=3))] == ["silence", "new"]
    plain = text("SELECT event_id FROM notifications WHERE event_ids IS NULL AND constituents IS NULL ORDER BY number")
    assert query(url, plain) == [("e1",), ("e2",)]
    counts = select(DELIVERIES.c.batch, DELIVERIES.c.kind, DELIVERIES.c.rows).order_by(DELIVERIES.c.batch, "kind")
    assert query(url, counts) == [
        (1, "detections", 2),
        (1, "matches", 1),
        (1, "rejects", 1),
        (2, "detections", 2),
        (2, "matches", 1),
    ]


def test_more_detections_than_one_piece(url, log, stage):
    names = [f"d{n}" for n in range(ROWS_MAX + 1)]
    log.deliver(stage(*({"detection_id": name} for name in names), kind="detections"))
    rows = query(url, page(limit=2 * ROWS_MAX))
    assert [(row.number, row.event_id) for row in rows] == list(enumerate(names, 1))
    assert rows[-1].event_ids == ["e1", "é 2"]


def test_a_fault_in_the_middle_of_detections_leaves_nothing(url, log, stage):
    def fail() -> None:
        raise MemoryError

    log.deliver(stage({}))
    delivery = stage({}, {"detection_id": "new"}, kind="detections")
    with pytest.raises(MemoryError):
        log.deliver(interrupted(delivery, fail))
    assert events(url) == ["e"]
    log.deliver(delivery)
    assert events(url) == ["e", "d", "new"]


def test_ids_that_begin_alike_are_told_apart(url, log, stage):
    ids = ["long" * 1000 + end for end in "ab"]
    log.deliver(stage(*({"subscription_id": one} for one in ids)))
    for one in ids:
        assert [row.subscription_id for row in query(url, page(subscription_id=one))] == [one]


def test_pages_of_a_subscription_use_the_index(tmp_path):
    url = f"sqlite:///{tmp_path}/log.db"
    log = SqlLog(url)
    log.open()
    log.close()
    plan = text("EXPLAIN QUERY PLAN " + str(page(7, 10, "s").compile(compile_kwargs={"literal_binds": True})))
    assert "USING INDEX notifications_by_subscription (subscription_key=? AND number>?)" in str(query(url, plan))


@pytest.mark.parametrize("same", [True, False], ids=["the same pipeline", "two pipelines"])
def test_who_pages_misses_nothing_while_several_write(url, stage, same):
    batches, rows = 12, 25
    names = ("p", "p") if same else ("p", "q")
    deliveries = {
        name: [stage(*({"event_id": f"{b}-{n}"} for n in range(rows)), batch=b, pipeline=name) for b in range(batches)]
        for name in names
    }
    faults: list[BaseException] = []
    first = SqlLog(url)
    first.open()
    first.close()

    def write(name: str) -> None:
        sink = SqlLog(url)
        try:
            sink.open()
            for delivery in deliveries[name]:
                sink.deliver(delivery)
        except BaseException as error:
            faults.append(error)
        finally:
            sink.close()

    writers = [threading.Thread(target=write, args=(name,)) for name in names]
    for writer in writers:
        writer.start()
    seen: list[tuple[str, str]] = []
    after = 0
    while True:
        ended = not any(writer.is_alive() for writer in writers)
        new = query(url, page(after, limit=10_000))
        seen += [(row.pipeline, row.event_id) for row in new]
        after = new[-1].number if new else after
        if ended:
            break
    for writer in writers:
        writer.join()
    assert faults == []
    assert sorted(seen) == sorted(
        (name, f"{b}-{n}") for name in set(names) for b in range(batches) for n in range(rows)
    )


def test_pipelines_that_start_together_make_the_tables_once(url):
    sinks = [SqlLog(url) for _ in range(4)]
    faults: list[BaseException] = []

    def start(sink: SqlLog) -> None:
        try:
            sink.open()
        except BaseException as error:
            faults.append(error)
        finally:
            sink.close()

    threads = [threading.Thread(target=start, args=(sink,)) for sink in sinks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert query(url, select(LOG)) == [(VERSION, 0)]


def test_sqlite_waits_while_another_is_about_to_write(tmp_path, monkeypatch):
    holder = sqlite3.connect(tmp_path / "log.db", isolation_level=None)
    holder.execute("CREATE TABLE other (x)")
    holder.execute("BEGIN IMMEDIATE")  # as one does who is about to switch
    waits: list[float] = []

    def release(seconds: float) -> None:
        waits.append(seconds)
        holder.execute("COMMIT")

    monkeypatch.setattr("ontosub.sinks.sql_engine.sleep", release)
    log = SqlLog(f"sqlite:///{tmp_path}/log.db")
    log.open()
    log.close()
    holder.close()
    assert len(waits) == 1


def test_sqlite_waits_no_longer_than_told(tmp_path):
    holder = sqlite3.connect(tmp_path / "log.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(Unavailable, match="locked"):
        SqlLog(f"sqlite:///{tmp_path}/log.db", timeout=0.05).open()
    holder.close()


def test_opening_leaves_no_trace(url, log):
    log.open()
    for table in (DELIVERIES, NOTIFICATIONS, DEAD_LETTERS):
        assert query(url, select(func.count()).select_from(table)) == [(0,)]


def test_a_writer_that_holds_the_log_is_waited_for_and_then_told(url, log, stage):
    engine = engine_of(url, 30)
    impatient = SqlLog(url, timeout=0.1)
    with engine.connect() as connection:
        connection.execute(update(LOG).values(last_number=LOG.c.last_number))
        with pytest.raises(Unavailable, match="lock"):
            impatient.deliver(stage({}))
        assert events(url) == []  # who reads is not held up
    engine.dispose()
    impatient.deliver(stage({}))
    impatient.close()
    assert events(url) == ["e"]


@pytest.mark.parametrize(("version", "made"), [(VERSION + 1, "a newer"), (VERSION - 1, "an older")])
def test_a_log_of_another_version_is_refused(url, log, version, made):
    query(url, update(LOG).values(version=version))
    says = rf"^option url: the log was made by {made} Ontosub \(version {version} .* knows {VERSION}\)"
    with pytest.raises(UsageError, match=says):
        log.open()


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE notifications (x integer)"],
        ["CREATE TABLE deliveries (pipeline text)", "CREATE TABLE other (x integer)"],
        [f"CREATE TABLE {name} (x integer)" for name in ("notifications", "dead_letters", "deliveries", "ontosub_log")],
    ],
)
def test_tables_of_others_are_refused(url, statements):
    for statement in statements:
        query(url, text(statement))
    sink = SqlLog(url)
    with pytest.raises(UsageError, match=r"^option url: .* (is|are) not (that|those) of a notification log"):
        sink.open()
    sink.close()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("nonsense", "this is no URL of a database"),
        ("postgresql://u:hunter2@host:port/db", "."),
        ("mysql://u:hunter2@host/db", "unknown database 'mysql'"),
        ("postgres://u:hunter2@host/db", "unknown database 'postgres': write .* or postgresql://"),
        ("postgresql+asyncpg://u:hunter2@host/db", "unknown database 'postgresql.asyncpg'"),
        ("sqlite://", "a log in memory would be lost"),
        ("sqlite:///:memory:", "a log in memory would be lost"),
        ("sqlite:////no/such/folder/log.db", "/no/such/folder/log.db: unable to open database file"),
        ("sqlite:////dev", "."),
    ],
)
def test_urls_that_cannot_be(url, says):
    with pytest.raises(UsageError, match=f"^option url: .*{says}") as caught:
        SqlLog(url, timeout=1).open()
    assert "hunter2" not in str(caught.value)


def test_a_file_that_is_no_database(tmp_path):
    (tmp_path / "log.db").write_bytes(b"this is a text, and longer than the head of a database would be" * 10)
    sink = SqlLog(f"sqlite:///{tmp_path}/log.db")
    with pytest.raises(UsageError, match=r"^option url: sqlite:///.*log.db: file is not a database"):
        sink.open()
    sink.close()


def test_a_database_that_only_may_be_read(tmp_path):
    path = tmp_path / "log.db"
    writing = SqlLog(f"sqlite:///{path}")
    writing.open()
    writing.close()
    reading = SqlLog(f"sqlite:///file:{path}?mode=ro&uri=true")
    with pytest.raises(UsageError, match="readonly"):
        reading.open()
    reading.close()


def test_sqlite_is_safe_and_readable_meanwhile(tmp_path, stage):
    log = SqlLog(f"sqlite:///{tmp_path}/log.db")
    log.open()
    with log._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    reader = sqlite3.connect(tmp_path / "log.db", timeout=0)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM notifications").fetchone() == (0,)
    log.deliver(stage({}))  # not held up by who reads
    assert reader.execute("SELECT count(*) FROM notifications").fetchone() == (0,)
    reader.execute("COMMIT")
    assert reader.execute("SELECT count(*) FROM notifications").fetchone() == (1,)
    reader.close()
    log.close()


def test_a_full_disk_is_told_and_passes(small_disk, stage):
    url = f"sqlite:///{small_disk.folder}/log.db"
    log = SqlLog(url)
    log.open()
    log.deliver(stage({"event_id": "before"}, batch=0))
    small_disk.fill()
    rows = [{"event_id": f"{n} {'x' * 100}"} for n in range(2000)]
    for _ in range(2):
        with pytest.raises(Unavailable, match=r"log.db: (database or disk is full|disk I/O error)"):
            log.deliver(stage(*rows, batch=1))
    assert events(url) == ["before"]
    small_disk.make_room()
    log.deliver(stage(*rows, batch=1))
    assert events(url) == ["before", *(row["event_id"] for row in rows)]
    log.close()


# --- PostgreSQL ---


def test_a_server_that_stops_is_waited_for(postgres, stage):
    url = postgres.create_database()
    log = SqlLog(url, timeout=5)
    log.open()
    log.deliver(stage({}, batch=0))
    postgres.stop()
    try:
        for _ in range(2):
            with pytest.raises(Unavailable, match=rf"postgresql://127.0.0.1:{postgres.port}/test"):
                log.deliver(stage({"event_id": "f"}, batch=1))
        with pytest.raises(Unavailable, match=r"[Cc]onnection refused"):
            SqlLog(url, timeout=5).open()
    finally:
        postgres.start()
    for _ in range(2):
        log.deliver(stage({"event_id": "f"}, batch=1))
    assert events(url) == ["e", "f"]
    log.close()


@dataclass(frozen=True)
class Interrupted(Delivery):
    """A delivery in the middle of which something happens."""

    happens: object = None

    def tables(self) -> Iterator[pa.Table]:
        table = pa.concat_tables(super().tables())
        yield table.slice(0, 1)
        self.happens()
        yield table.slice(1)


def interrupted(delivery: Delivery, happens) -> Interrupted:
    return Interrupted(delivery.pipeline, delivery.batch, delivery.schema, delivery.files, happens)


def test_a_server_that_stops_in_the_middle(postgres, stage):
    url = postgres.create_database()
    log = SqlLog(url, timeout=5)
    log.open()
    rows = [{"event_id": f"e{n}", "bindings": [[("x", "y" * 1000)]]} for n in range(2000)]
    delivery = stage(*rows)
    try:
        with pytest.raises(Unavailable, match=r"postgresql://127\.0\.0\.1"):
            log.deliver(interrupted(delivery, postgres.stop))
    finally:
        postgres.start()
    assert events(url) == []
    log.deliver(delivery)
    log.deliver(delivery)
    assert [row.event_id for row in query(url, page(limit=5000))] == [row["event_id"] for row in rows]
    log.close()


def test_a_fault_in_the_middle_leaves_nothing(url, log, stage):
    def fail() -> None:
        raise MemoryError

    delivery = stage({}, {"event_id": "f"})
    with pytest.raises(MemoryError):
        log.deliver(interrupted(delivery, fail))
    assert events(url) == []
    log.deliver(delivery)
    assert events(url) == ["e", "f"]


def test_another_process_with_the_same_pipeline_was_faster(url, log, stage):
    delivery = stage({}, {"event_id": "f"})
    slow = SqlLog(url)
    slow.deliver(interrupted(delivery, lambda: log.deliver(delivery)))
    slow.close()
    log.deliver(stage({"event_id": "g"}, batch=1))
    assert events(url) == ["e", "f", "g"]


def as_user(postgres, url: str, *grants: str) -> str:
    """Return the URL for a user who has been given no more than this."""
    name = f"user{url.rpartition('/')[2]}"
    for statement in (f"CREATE ROLE {name} LOGIN", *grants):
        query(url, text(statement.format(name)))
    return url.replace("ontosub@", f"{name}:hunter2@")


def test_a_user_who_may_make_no_tables(postgres):
    url = postgres.create_database()
    sink = SqlLog(as_user(postgres, url))
    with pytest.raises(UsageError, match=r"^option url: .*permission denied for schema public"):
        sink.open()
    sink.close()


@pytest.mark.parametrize("privilege", ["SELECT", "SELECT, UPDATE"])
def test_a_user_who_may_not_write_is_told_when_the_sink_is_opened(postgres, privilege):
    url = postgres.create_database()
    owner = SqlLog(url)
    owner.open()
    owner.close()
    sink = SqlLog(as_user(postgres, url, f"GRANT {privilege} ON ALL TABLES IN SCHEMA public TO {{}}"))
    with pytest.raises(UsageError, match=r"^option url: .*permission denied for table") as caught:
        sink.open()
    assert "hunter2" not in str(caught.value)
    sink.close()


def test_a_user_and_a_database_that_are_not_there(postgres):
    for url in (postgres.url("nowhere"), postgres.url().replace("ontosub@", "nobody:hunter2@")):
        with pytest.raises(UsageError, match=r"^option url: postgresql://127.0.0.1:\d+/.*does not exist") as caught:
            SqlLog(url).open()
        assert "hunter2" not in str(caught.value)


def test_moments_are_in_utc_whatever_the_server_thinks(postgres, stage):
    url = postgres.create_database()
    query(url, text(f"ALTER DATABASE {url.rpartition('/')[2]} SET timezone = 'Asia/Tokyo'"))
    log = SqlLog(url)
    log.open()
    noon = datetime(2024, 5, 1, 12, tzinfo=UTC)
    log.deliver(stage({"time_start": noon, "time_end": noon}))
    [row] = query(url, select(NOTIFICATIONS))
    assert (row.time_start, row.time_end) == (noon, noon)
    assert abs((row.created_at - datetime.now(UTC)).total_seconds()) < 3600
    log.close()


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Midway"])
def test_the_ends_of_time_are_read_wherever_the_server_is(postgres, stage, zone):
    url = postgres.create_database()
    query(url, text(f"ALTER DATABASE {url.rpartition('/')[2]} SET timezone = '{zone}'"))
    log = SqlLog(url)
    log.open()
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    log.deliver(stage({"time_start": first, "time_end": last}))
    [row] = query(url, page())
    assert (row.time_start, row.time_end) == (first, last)
    log.close()
