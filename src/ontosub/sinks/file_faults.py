"""What faults of a file system mean to who runs a pipeline: wait, for room on a full disk say, or correct a setting."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ontosub.model.errors import Unavailable, UsageError

_WRONG = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG, errno.ELOOP}
_PASSING = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.EBUSY}
_PASSING |= {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOTCONN, errno.EHOSTDOWN}


@contextmanager
def told(option: str, path: Path) -> Iterator[None]:
    """Raise Unavailable, or UsageError with the name of the option, for what the file system raises."""
    try:
        yield
    except OSError as error:
        says = f"{path}: {(error.strerror or str(error)).lower()}"
        if error.errno in _WRONG:
            raise UsageError(f"option {option}: {says}") from error
        if error.errno in _PASSING:
            raise Unavailable(says) from error
        raise
