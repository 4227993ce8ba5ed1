"""What is wrong with an event log, and how errors of the system become ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ontosub.model.errors import Diagnostic, OntosubError

RESTORE = 'Restore the file from a backup, or see "Damage" in docs/EVENT_LOG.md for how to go on without it.'


class EventLogError(OntosubError):
    """An event log cannot be opened, read or written: it is corrupt, foreign, in use, or its place is closed to us.

    `position` is the byte of the file `path` where the fault begins, where it has such a place.
    """

    def __init__(
        self, message: str, path: str | None = None, position: int | None = None, hint: str | None = None
    ) -> None:
        self.message, self.path, self.position, self.hint = message, path, position, hint
        super().__init__(message, path, position, hint)

    @property
    def diagnostic(self) -> Diagnostic:
        where = [] if self.path is None else [self.path]
        if self.position is not None:
            where.append(f"byte {self.position}")
        return Diagnostic(self.message, hint=self.hint, source=", ".join(where) or None)

    def __str__(self) -> str:
        return str(self.diagnostic)


def corrupt(path: Path, position: int | None, what: str) -> EventLogError:
    """Return the error for a file that is not what was written."""
    return EventLogError(f"the event log is corrupt: {what}", str(path), position, RESTORE)


@contextmanager
def own_errors(path: Path) -> Iterator[None]:
    """Turn an error of the system into one that names the file."""
    try:
        yield
    except OSError as error:
        raise EventLogError((error.strerror or str(error)).lower(), str(error.filename or path)) from error
