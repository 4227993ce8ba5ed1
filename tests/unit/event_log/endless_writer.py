"""Run as a program: append numbered events without end, and say what has been acknowledged.

python endless_writer.py <log>
"""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

from ontosub.event_log import EventLog


def payload(number: int) -> bytes:
    return f"{number} ".encode() * (1 + number % 50)


def main(directory: Path) -> None:
    with EventLog(directory, segment_bytes=20_000) as log:
        for turn in count():
            numbers = range(log.end(), log.end() + 1 + turn % 4)
            log.append([{"event_id": str(each), "content_type": "x", "payload": payload(each)} for each in numbers])
            sys.stdout.write(f"{numbers.stop}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
