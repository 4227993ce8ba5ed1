"""Rows on standard output, as JSON lines: to look at, or for the next program of a shell."""

from __future__ import annotations

import sys
from typing import TextIO

from ontosub.sinks.rows import json_objects, json_text
from ontosub.sinks.sink import Delivery, Sink


class PrintSink(Sink):
    """Prints. What was printed before a crash cannot be known after it, and is printed again."""

    def __init__(self) -> None:
        self._file: TextIO = sys.stdout

    def open(self) -> None:
        self._file = sys.stdout

    def deliver(self, delivery: Delivery) -> None:
        for table in delivery.tables():
            for row in json_objects(table):
                self._file.write(json_text(row) + "\n")
        self._file.flush()
