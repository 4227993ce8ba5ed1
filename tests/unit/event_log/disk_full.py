"""Run as a program: fill the disk (or reach the largest size of a file) in the middle of an append, and go on.

python disk_full.py <folder> <disk|file>
"""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

from ontosub.event_log import EventLog, EventLogReader
from ontosub.model.errors import Unavailable


def event(number: int, size: int = 3_000) -> dict:
    return {"event_id": f"e{number}", "content_type": "turtle", "payload": bytes([number]) * size}


def ids(log: EventLogReader) -> list[str]:
    return [row["event_id"] for batch in log.read(0) for row in batch.to_pylist()]


def fill(folder: Path) -> None:
    """Leave no room at all."""
    with (folder / "filler").open("wb", buffering=0) as file:
        size = 1 << 16
        while size:
            try:
                file.write(b"x" * size)
            except OSError:
                size //= 2


def limit(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def refused(log: EventLog, number: int) -> str:
    """Append until there is no room, and return what is said then. Some bytes may fit into a block that is begun."""
    try:
        while True:
            log.append([event(number)])
            number += 1
    except Unavailable as error:
        return str(error)


def main(folder: Path, *, disk: bool) -> None:
    with EventLog(folder / "log") as log:
        log.append([event(0)])
        log.append([event(1)])
        if disk:
            fill(folder)
        else:
            limit(2 * (log.directory / f"{0:020}.events").stat().st_size - 100)
        told = refused(log, 2)
        assert ("no space left" if disk else "file too large") in told, told
        assert str(log.directory) in told, told
        end = log.end()
        assert ids(EventLogReader(log.directory)) == [f"e{number}" for number in range(end)]
        assert refused(log, 99)  # again and again
        assert log.end() == end
        if disk:
            (folder / "filler").unlink()
        else:
            limit(resource.RLIM_INFINITY)
        log.append([event(end)])
        assert ids(EventLogReader(log.directory)) == [f"e{number}" for number in range(end + 1)]
    with EventLog(folder / "log") as log:
        assert ids(log) == [f"e{number}" for number in range(end + 1)]
    sys.stdout.write(f"refused at {end}, pid {os.getpid()}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), disk=sys.argv[2] == "disk")
