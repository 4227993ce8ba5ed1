"""What a database's faults mean to who runs a pipeline: wait, or correct a setting. No password is ever in them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from ontosub.model.errors import OntosubError, Unavailable, UsageError

try:
    from psycopg import Error as PostgresError
    from psycopg import InterfaceError, OperationalError
except ImportError:  # then it raises nothing
    PostgresError = InterfaceError = OperationalError = ()  # type: ignore[assignment, misc]

_SQLITE_PASSING = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_PROTOCOL,
}
_SQLITE_WRONG = {
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_NOTADB,
}
_POSTGRES_WRONG = re.compile("28|3D|3F|42|54|0A")
"""Classes of SQLSTATE: authorisation, no such database or schema, no such name or privilege, limits, not supported."""

_REFUSED = re.compile(
    r"authentication failed|no pg_hba\.conf entry|no password supplied|(role|database) \".*\" does not exist"
    r"|permission denied|invalid (connection|integer|port|sslmode)|certificate"
)
"""How PostgreSQL refuses a connection: then there is no SQLSTATE."""


@contextmanager
def told(option: str, place: str) -> Iterator[None]:
    """Raise Unavailable, or UsageError with the name of the option, for what a database raises; `place` is shown."""
    try:
        yield
    except (DBAPIError, PostgresError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        meant = _meaning(cause, option, place)
        if meant is None:
            raise
        # The chain would show statements with the rows in them.
        raise meant from None


def _meaning(cause: BaseException | None, option: str, place: str) -> OntosubError | None:
    """Return what a fault means; None if it is one of Ontosub itself."""
    says = f"{place}: {_line(cause)}"
    if isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorcode", None)
        primary = None if code is None else code & 0xFF
        passes, wrong = primary in _SQLITE_PASSING, primary in _SQLITE_WRONG
    else:
        state = getattr(cause, "sqlstate", None)
        wrong = bool(_POSTGRES_WRONG.match(state) if state else _REFUSED.search(str(cause)))
        passes = isinstance(cause, (OperationalError, InterfaceError)) or (state or "").startswith("25006")
    if wrong:
        return UsageError(f"option {option}: {says}")
    return Unavailable(says) if passes else None


def _line(cause: BaseException | None) -> str:
    """Return the first line of what a database says."""
    lines = str(cause).strip().splitlines()
    return lines[0] if lines else type(cause).__name__
