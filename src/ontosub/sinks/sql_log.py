"""The notification log: matches, detections and dead letters in a database, each delivery in one transaction.

The transaction first copies the rows into a temporary table, then takes the next numbers, then moves them. Taking
numbers locks the one row that counts them until the commit, so of several pipelines that share a log one commits at a
time, and numbers become visible in their order: who has read up to a number has missed nothing before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import sqlalchemy.dialects.postgresql as postgresql
import sqlalchemy.dialects.sqlite as sqlite
from sqlalchemy import Connection, Insert, Table, delete, func, insert, literal, select, update
from sqlalchemy.schema import CreateTable

from ontosub.model.errors import UsageError
from ontosub.sinks.rows import kind_of
from ontosub.sinks.sink import Delivery, Sink
from ontosub.sinks.sql_engine import engine_of, shown
from ontosub.sinks.sql_faults import told
from ontosub.sinks.sql_rows import Row, staged_rows, storable
from ontosub.sinks.sql_schema import prepare
from ontosub.sinks.sql_tables import DELIVERIES, LOG, LOGGED, NOTIFICATIONS, STAGES


class SqlLog(Sink):
    """Deliver rows to a database: `notifications`, `dead_letters`, and `deliveries` as the record of what is there.

    A notification is one for a pipeline, a subscription and an event: of an event that comes twice, the first stays.
    The event of a detection is the composite event.
    """

    def __init__(self, url: str, timeout: float = 30.0) -> None:
        if not 0 < timeout < 1_000_000:
            raise UsageError(f"option timeout: {timeout} is no number of seconds to wait")
        self._engine = engine_of(url, timeout)
        self._timeout = timeout

    def open(self) -> None:
        try:
            with told("url", shown(self._engine)):
                self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        with self._engine.begin() as connection:
            self._settle(connection)
            prepare(connection)
        with self._engine.connect() as connection:
            self._try(connection)

    def deliver(self, delivery: Delivery) -> None:
        record = _record(delivery)
        with told("url", shown(self._engine)):
            with self._engine.connect() as connection:
                if _is_there(connection, record):  # decided below, under a lock: this only saves time
                    return
            with self._engine.begin() as connection:
                self._settle(connection)
                _move(connection, record, _stage(connection, record["kind"], staged_rows(delivery)))

    def close(self) -> None:
        self._engine.dispose()

    def _settle(self, connection: Connection) -> None:
        """Limit waiting for the locks of others, and how long others wait for those of a client that is gone."""
        if connection.dialect.name == "postgresql":
            limit = f"{round(self._timeout * 1000)}ms"
            settings = {"lock_timeout": limit, "idle_in_transaction_session_timeout": limit, "timezone": "UTC"}
            connection.execute(select(*(func.set_config(name, value, True) for name, value in settings.items())))

    def _try(self, connection: Connection) -> None:
        """Do all that a delivery does, without rows, and take it back: a missing privilege shows now."""
        self._settle(connection)
        for kind in LOGGED:
            count = _stage(connection, kind, iter(()))
            _move(connection, {"pipeline": "", "batch": -1, "kind": kind}, count)
        connection.rollback()


def _record(delivery: Delivery) -> dict[str, Any]:
    """Return what a delivery is known by."""
    return {"pipeline": storable(delivery.pipeline), "batch": delivery.batch, "kind": kind_of(delivery)}


def _is_there(connection: Connection, record: dict[str, Any]) -> bool:
    return connection.scalar(select(DELIVERIES.c.rows).filter_by(**record)) is not None


def _stage(connection: Connection, kind: str, rows: Iterator[Row]) -> int:
    """Copy rows into the temporary table of their kind, and return how many they are."""
    stage = STAGES[kind]
    connection.execute(CreateTable(stage, if_not_exists=True))
    connection.execute(delete(stage))
    fill = _copy if connection.dialect.name == "postgresql" else _insert
    return fill(connection, stage, rows)


def _copy(connection: Connection, stage: Table, rows: Iterator[Row]) -> int:
    quote = connection.dialect.identifier_preparer.quote
    names = ", ".join(quote(column.name) for column in stage.columns)
    count = 0
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY {quote(stage.name)} ({names}) FROM STDIN") as copy:
        for count, row in enumerate(rows, 1):  # noqa: B007 - the last count is all of them
            copy.write_row(row)
    return count


def _insert(connection: Connection, stage: Table, rows: Iterator[Row]) -> int:
    places = ", ".join("?" for _ in stage.columns)
    driver: Any = connection.connection.driver_connection  # which takes rows as they come
    done = driver.executemany(f"INSERT INTO {stage.name} VALUES ({places})", rows)  # noqa: S608 - names are ours
    return max(0, int(done.rowcount))


def _move(connection: Connection, record: dict[str, Any], count: int) -> None:
    """Number the staged rows and move them into the log, unless they are there."""
    # This waits for whoever else is between here and a commit.
    connection.execute(update(LOG).values(last_number=LOG.c.last_number + count))
    if _is_there(connection, record):
        return  # the numbers stay unused
    now = datetime.now(UTC)
    connection.execute(insert(DELIVERIES).values(**record, rows=count, created_at=now))
    last = connection.scalars(select(LOG.c.last_number)).one()
    common = {"pipeline": record["pipeline"], "batch": record["batch"], "created_at": now}
    connection.execute(_numbered(connection, record["kind"], last - count, common))


def _numbered(connection: Connection, kind: str, before: int, common: dict[str, Any]) -> Insert:
    """Return the statement that moves rows from the stage into the log, with numbers after `before`."""
    table, stage = LOGGED[kind], STAGES[kind]
    own = [column for column in stage.columns if column.name != "row"]
    same = [literal(value, table.c[name].type).label(name) for name, value in common.items()]
    rows = select((stage.c.row + before).label("number"), *same, *own).order_by(stage.c.row)
    target = _insert_new(connection) if table is NOTIFICATIONS else insert(table)
    return target.from_select(["number", *common, *(column.name for column in own)], rows)


def _insert_new(connection: Connection) -> Insert:
    """Return an INSERT of notifications that leaves alone those that are there."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(NOTIFICATIONS).on_conflict_do_nothing(index_elements=["key"])
    return sqlite.insert(NOTIFICATIONS).on_conflict_do_nothing(index_elements=["key"])
