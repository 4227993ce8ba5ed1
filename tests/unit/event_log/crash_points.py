"""Run as a program: append to logs in processes that kill themselves, each at another call to the system.

    python crash_points.py <folder> <before|halfway>

Each process has a folder of its own, with its log and a file `acked` that says what has been acknowledged. The last
number is that of a process that came to the end.
"""

from __future__ import annotations

import os
import signal
import sys
from itertools import count
from pathlib import Path

from ontosub.event_log import EventLog
from ontosub.event_log.events import as_batch

APPENDS = [1, 3, 2, 1, 2]
"""How many events each append has. With segments of so few bytes there are several of them."""

SEGMENT_BYTES = 1_600
CALLS = ("open", "pwrite", "fsync", "ftruncate", "truncate", "close")


def events(first: int, rows: int) -> list[dict]:
    return [
        {"event_id": f"e{number}", "content_type": "turtle", "payload": bytes([65 + number]) * 40}
        for number in range(first, first + rows)
    ]


def die_at(number: int, *, halfway: bool) -> None:
    """Replace calls to the system so that the n-th of them is the last, half of it done if it is a write."""
    calls = count()

    def dying(call):
        def replaced(*arguments, **options):
            if next(calls) == number:
                if halfway and call is write:
                    descriptor, data, position = arguments
                    write(descriptor, data[: len(data) // 2], position)
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **options)

        return replaced

    write = os.pwrite
    os.fsync = lambda descriptor: None  # the death of a process takes nothing from the disk: no need to wait for it
    for name in CALLS:
        setattr(os, name, dying(getattr(os, name)))


def append_all(folder: Path) -> None:
    acked = (folder / "acked").open("w", buffering=1)
    with EventLog(folder / "log", segment_bytes=SEGMENT_BYTES) as log:
        for rows in APPENDS:
            acked.write(f"{log.append(events(log.end(), rows)).stop}\n")


def main(root: Path, *, halfway: bool) -> None:
    as_batch(events(0, 1))  # what it imports, it imports once, and not in each process
    for number in count():
        folder = root / f"{number:03}"
        folder.mkdir(parents=True)
        child = os.fork()
        if child == 0:
            die_at(number, halfway=halfway)
            append_all(folder)
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]), halfway=sys.argv[2] == "halfway")
