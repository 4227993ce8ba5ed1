"""A database by its URL: SQLite or PostgreSQL, with settings under which what is committed stays."""

from __future__ import annotations

import sqlite3
from time import monotonic, sleep
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from ontosub.model.errors import UsageError

_DRIVERS = {
    "sqlite": "sqlite",
    "sqlite+pysqlite": "sqlite",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
_EXAMPLES = "write sqlite:////folder/log.db or postgresql://user@host/database"


def engine_of(url: str, timeout: float) -> Engine:
    """Return an engine that has not connected yet. `timeout` seconds are waited for connections and for locks.

    Raises UsageError.
    """
    known = _checked(url)
    if known.get_backend_name() == "sqlite":
        return _sqlite(known, timeout)
    try:
        return create_engine(
            known,
            connect_args=_network(known, timeout),
            isolation_level="READ COMMITTED",  # after a wait for a lock, what was committed meanwhile is seen
            pool_size=1,
            pool_pre_ping=True,
        )
    except ImportError:
        raise UsageError("option url: PostgreSQL takes psycopg: pip install 'ontosub[run]'") from None


def shown(engine: Engine) -> str:
    """Return which database it is, for people: no user, no password, no parameters."""
    url = engine.url
    port = f":{url.port}" if url.port else ""
    return f"{url.get_backend_name()}://{url.host or ''}{port}/{url.database or ''}"


def _checked(text: str) -> URL:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        # Its words may have the URL in them, and that the password.
        raise UsageError(f"option url: this is no URL of a database: {_EXAMPLES}") from None
    driver = _DRIVERS.get(url.drivername)
    if driver is None:
        raise UsageError(f"option url: unknown database {url.drivername!r}: {_EXAMPLES}")
    if driver == "sqlite" and (":memory:" in (url.database or ":memory:") or url.query.get("mode") == "memory"):
        raise UsageError("option url: a log in memory would be lost: name a file, as in sqlite:////folder/log.db")
    return url.set(drivername=driver)


def _sqlite(url: URL, timeout: float) -> Engine:
    engine = create_engine(url, connect_args={"timeout": timeout})

    @event.listens_for(engine, "connect")
    def settle(connection: Any, _: object) -> None:
        _log_ahead(connection, timeout)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA cache_size = -65536")  # 64 MB: keys come in no order

    return engine


def _log_ahead(connection: sqlite3.Connection, timeout: float) -> None:
    """Use a write-ahead log: who reads does not wait, nor is waited for.

    Where two switch at once, SQLite refuses one of them without waiting, whatever the timeout: so it is tried again.
    """
    deadline = monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() >= deadline:
                raise
        sleep(0.01)


def _network(url: URL, timeout: float) -> dict[str, Any]:
    """Return parameters by which a server that has vanished is noticed; those of the URL go before them."""
    wanted = {
        "connect_timeout": max(2, round(timeout)),
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "tcp_user_timeout": max(2, round(timeout)) * 1000,
    }
    return {name: value for name, value in wanted.items() if name not in url.query}
