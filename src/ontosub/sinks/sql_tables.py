"""The tables of the notification log, and what is staged for them.

Rows are numbered in the order of their commits. What is looked up are digests of ids: an id may be longer than what a
database can index.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    DateTime,
    Dialect,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.functions import FunctionElement

VERSION = 2
"""Of the tables. Any change to them takes another."""


class _InUtc(FunctionElement[datetime]):
    """A moment as PostgreSQL tells it in UTC: in another time zone it may lie in a year that Python does not know."""

    inherit_cache = True


@compiles(_InUtc)
def _as_stored(moment: _InUtc, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(moment.clauses, **options)


@compiles(_InUtc, "postgresql")
def _without_zone(moment: _InUtc, compiler: SQLCompiler, **options: Any) -> str:
    return f"timezone('UTC', {compiler.process(moment.clauses, **options)})"


class Moment(TypeDecorator[datetime]):
    """A moment in UTC, also in SQLite, which knows no time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def column_expression(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        moment = _InUtc(column)
        moment.type = self
        return moment

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None or dialect.name != "sqlite":
            return value
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


TABLES = MetaData()

LOG = Table(
    "ontosub_log",
    TABLES,
    Column("version", Integer, nullable=False),
    Column("last_number", BigInteger, nullable=False),
)
"""One row: the version of these tables, and the number that was given last."""

DELIVERIES = Table(
    "deliveries",
    TABLES,
    Column("pipeline", Text, primary_key=True),
    Column("batch", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", Text, primary_key=True),
    Column("rows", BigInteger, nullable=False),
    Column("created_at", Moment, nullable=False),
)


def _logged(name: str, *items: Column[Any] | Index) -> Table:
    return Table(
        name,
        TABLES,
        # In SQLite, only an INTEGER is the key that rows are stored by.
        Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False),
        Column("pipeline", Text, nullable=False),
        Column("batch", BigInteger, nullable=False),
        Column("created_at", Moment, nullable=False),
        *items,
    )


NOTIFICATIONS = _logged(
    "notifications",
    Column("key", LargeBinary, nullable=False, unique=True),
    Column("subscription_key", BigInteger, nullable=False),
    Column("subscription_id", Text, nullable=False),
    Column("event_id", Text, nullable=False),
    Column("bindings", JSON, nullable=False),
    Column("time_start", Moment),
    Column("time_end", Moment),
    Column("event_ids", JSON),
    Column("constituents", JSON),
    Index("notifications_by_subscription", "subscription_key", "number"),
)
"""Matches and detections. A detection is of the composite event `event_id`; only it has `event_ids`, `constituents`."""

DEAD_LETTERS = _logged(
    "dead_letters",
    Column("event_id", Text),
    Column("content_type", Text),
    Column("payload", LargeBinary),
    Column("reason", Text, nullable=False),
    Column("line", Integer),
    Column("column", Integer),
)

LOGGED = {"matches": NOTIFICATIONS, "rejects": DEAD_LETTERS, "detections": NOTIFICATIONS}


def _stage(kind: str, table: Table) -> Table:
    """Return the temporary table that rows of a kind are copied to before they are numbered."""
    absent = {"number", "pipeline", "batch", "created_at"}
    if kind == "matches":  # most rows are: they do not carry what only detections have
        absent |= {"event_ids", "constituents"}
    kept = [Column(column.name, _staged_type(column)) for column in table.columns if column.name not in absent]
    return Table(
        f"staged_{kind}",
        MetaData(),
        Column("row", BigInteger),
        *kept,
        prefixes=["TEMPORARY"],
        postgresql_on_commit="DELETE ROWS",
    )


def _staged_type(column: Column[Any]) -> Any:
    """Return a column's type; in SQLite, JSON and moments are text, and come as such."""
    is_text = isinstance(column.type, (JSON, Moment))
    return Text().with_variant(column.type, "postgresql") if is_text else column.type


STAGES = {kind: _stage(kind, table) for kind, table in LOGGED.items()}
