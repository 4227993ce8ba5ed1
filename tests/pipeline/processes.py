"""What runs on this machine, from /proc: which processes belong together, and how much memory each has."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """A process, as it was when somebody looked."""

    pid: int
    parent: int
    command: str

    @property
    def is_java(self) -> bool:
        return Path(self.command.partition(" ")[0]).name == "java"

    @property
    def is_task_worker(self) -> bool:
        """Whether it is what Spark runs Python tasks in, or the process that such are forked from."""
        return "pyspark.daemon pyspark.worker" in self.command

    def memory(self) -> int:
        """Return how many bytes it has in memory, with its share of what it shares; 0 when it is gone."""
        with suppress(OSError):
            for line in Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
        return 0

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)


def in_session(leader: int) -> list[Process]:
    """Return the processes of a session: all that its leader has started, and what those have."""
    return [found for found, session in _all() if session == leader]


def kill_session(leader: int) -> None:
    """Kill a process that leads a session, and whatever it has started."""
    while members := in_session(leader):
        for each in members:
            each.kill()
        with suppress(ChildProcessError):
            os.waitpid(leader, os.WNOHANG)


def _all() -> Iterator[tuple[Process, int]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):  # it has ended meanwhile
                state, parent, _, session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                if state != "Z":
                    yield Process(int(folder.name), int(parent), command), int(session)
