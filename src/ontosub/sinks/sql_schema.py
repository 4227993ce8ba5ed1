"""Making the tables of the log, once, and refusing a database whose tables are not the ones that are known here."""

from __future__ import annotations

from sqlalchemy import Connection, func, insert, inspect, select

from ontosub.model.errors import UsageError
from ontosub.sinks.sql_tables import LOG, TABLES, VERSION

_LOCK = int.from_bytes(b"ontosub", "big")


def prepare(connection: Connection) -> None:
    """Make the tables, inside a transaction, unless they are there.

    Raises UsageError if what is there is of others, or of another version.
    """
    _lock(connection)
    there = TABLES.tables.keys() & set(inspect(connection).get_table_names())
    if not there:
        TABLES.create_all(connection, checkfirst=False)
        connection.execute(insert(LOG).values(version=VERSION, last_number=0))
    elif len(there) < len(TABLES.tables):
        raise UsageError(
            f"option url: the database has tables {', '.join(sorted(there))} that are not those of a notification log: "
            "give the log a database, or in PostgreSQL a schema, of its own"
        )
    else:
        _check_version(connection)


def _lock(connection: Connection) -> None:
    """Wait until no other pipeline is making the tables."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
    else:
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _check_version(connection: Connection) -> None:
    names = {column["name"] for column in inspect(connection).get_columns(LOG.name)}
    versions = list(connection.scalars(select(LOG.c.version))) if names >= set(LOG.columns.keys()) else []
    if versions == [VERSION]:
        return
    if len(versions) == 1 and isinstance(versions[0], int):
        made = "a newer" if versions[0] > VERSION else "an older"
        raise UsageError(
            f"option url: the log was made by {made} Ontosub (version {versions[0]} of its tables; this one knows "
            f"{VERSION}): use that one, or another database"
        )
    raise UsageError("option url: the table ontosub_log is not that of a notification log: use another database")
