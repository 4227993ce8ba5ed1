"""Rows on standard output: lines to read or, for the next program of a shell, lines of JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Literal, TextIO

from ontosub.model.terminal import printable
from ontosub.sinks.row_text import lines_of
from ontosub.sinks.rows import json_objects, json_text
from ontosub.sinks.sink import Delivery, Sink


class PrintSink(Sink):
    """Prints. What was printed before a crash cannot be known after it, and is printed again.

    Without a `format`, it is "text" on a terminal, else "json".
    """

    def __init__(self, format: Literal["text", "json"] | None = None) -> None:
        self._format = format
        self._file: TextIO = sys.stdout

    def open(self) -> None:
        self._file = sys.stdout

    def deliver(self, delivery: Delivery) -> None:
        # Either way a terminal may be at the other end: control characters are shown as codes, which JSON reads back.
        self._file.writelines(printable(line) + "\n" for line in self._lines(delivery))
        self._file.flush()

    def _lines(self, delivery: Delivery) -> Iterator[str]:
        as_text = self._file.isatty() if self._format is None else self._format == "text"
        for table in delivery.tables():
            for row in json_objects(table):
                yield from lines_of(row) if as_text else (json_text(row),)
