"""From files to events. What is wrong with one of many does not hide the others."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ontosub.inputs.faults import FAULTS, diagnostic_of
from ontosub.inputs.files import FORMATS, STANDARD_INPUT, companion, found
from ontosub.model import Diagnostic, Event, Severity
from ontosub.model.errors import InputError, UsageError


@dataclass(frozen=True, slots=True)
class Published:
    """An event, and the file that it was read from."""

    source: str
    event: Event


@dataclass(frozen=True, slots=True)
class Reading:
    """How events are read: the format, if their extensions do not say it, and the format's own options."""

    format: str | None = None
    base: str | None = None
    context: Path | None = None
    mapping: Path | None = None
    vocab: str | None = None

    def options(self, path: Path) -> dict[str, Any]:
        """Return the options for one file: what was given, else what lies beside it."""
        options = {
            "base": self.base,
            "vocab": self.vocab,
            "context": self.context or companion(path, "context"),
            "mapping": self.mapping or companion(path, "mapping"),
        }
        return {name: value for name, value in options.items() if value is not None}


def event_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files of events that the paths mean, each once; `-` stands for standard input."""
    files: dict[Path, None] = {}
    for path in paths:
        files.update(dict.fromkeys([path] if path == STANDARD_INPUT else found([path], FORMATS, "events")))
    return list(files)


def read_events(path: Path, reading: Reading) -> Iterator[Published | Diagnostic]:
    """Yield the events of a file in order; a fault takes the place of what could not be read.

    A bad line, row or record leaves those after it readable; any other fault ends the file. An event that nothing names
    is called after its file: lots.csv, and those that follow in it lots.csv#2, lots.csv#3.
    """
    source, name = ("standard input", "-") if path == STANDARD_INPUT else (str(path), path.name)
    number = 0
    faults: list[Exception] = []
    options = {**reading.options(path), "on_fault": faults.append}
    try:
        for event in Event.read_stream(_payload(path, reading), reading.format, **options):
            yield from _taken(faults, source)
            number += 1
            unnamed = _UNNAMED.fullmatch(event.id)
            yield Published(source, replace(event, id=name + unnamed[1]) if unnamed else event)
    except FAULTS as error:
        faults.append(error)
        yield from _taken(faults, source)
        if number:
            yield Diagnostic(f"what follows event {number} was not read", Severity.NOTE, source=source)
    yield from _taken(faults, source)


def _taken(faults: list[Exception], source: str) -> Iterator[Diagnostic]:
    """Yield what is wrong, once."""
    while faults:
        yield _fault(faults.pop(0), source)


def _fault(error: Exception, source: str) -> Diagnostic:
    """Return what is wrong with a file of events, or with what reading it leans on: a context, an envelope's data."""
    inside = error.diagnostic.source if isinstance(error, InputError) else None
    return diagnostic_of(error, source if inside in (None, source) else f"{source}, {inside}")


_UNNAMED = re.compile(r"sha256:[0-9a-f]{32}((?:#[0-9]+)?)")
"""The id of an event that has none of its own, with its number in the file; see `Event.read_stream`."""


def _payload(path: Path, reading: Reading) -> bytes | Path:
    if path != STANDARD_INPUT:
        return path
    if reading.format is None:
        raise UsageError("there is no extension to tell the format by: give --format")
    return sys.stdin.buffer.read()
