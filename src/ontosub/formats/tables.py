"""CSV tables: each row is a record, or lifted to RDF as the map that it is."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ontosub.formats.datatypes import shown
from ontosub.formats.limits import DEFAULT, Limits
from ontosub.formats.reading import Member
from ontosub.formats.source import Source
from ontosub.model.errors import FormatError, LimitError, Span, UsageError
from ontosub.model.terms import HOME, Literal, NamedNode, Triple

_NAMED_MAX = 20
"""How many columns a hint names."""


class Header(NamedTuple):
    """The names of the columns, the line that has them, and the offset of that line."""

    names: list[str]
    where: Span
    start: int


@dataclass(frozen=True, slots=True)
class Row:
    """A row that a mapping reads: paths are column names; an empty cell has no value."""

    cells: dict[str, str]
    source: Source
    where: Span
    header: Header

    def values(self, path: str) -> list[str]:
        if path not in self.cells:
            hint = f"The columns are {', '.join(map(shown, self.header.names[:_NAMED_MAX]))}."
            message, (_, where, start) = f"there is no column {shown(path)!r}", self.header
            raise self.source.fault_in(message, where, hint=hint, line_start=start)
        return [self.cells[path]] if self.cells[path] else []

    def nodes(self, path: str) -> list[Row]:
        raise UsageError(f"a CSV row has nothing nested in it: leave out from {path!r} beside object")

    def fault(
        self, message: str, path: str | None = None, *, value: str | None = None, hint: str | None = None
    ) -> FormatError:
        """Return the error at the cell of column `path`, or at the one that has the value; else at the row."""
        column = path or next((column for column, cell in self.cells.items() if cell == value), None)
        return self.source.fault_in(message, self._place(column) or self.where, hint=hint)

    def _place(self, wanted: str | None) -> Span | None:
        """Return where the column's cell is: after those before it. One with quotes or line ends in it is not found."""
        line = self.source.whole[self.where.line]
        at = 0
        for column, cell in self.cells.items():
            quotes = int(line.startswith('"', at))
            if column == wanted:
                start, end = at + quotes, at + quotes + len(cell)
                is_there = cell and line.startswith(cell, start)
                return Span(self.where.line, start + 1, self.where.line, end + 1) if is_there else None
            at += len(cell) + 1 + quotes * (2 + cell.count('"'))
        return None

    def check(self, limits: Limits) -> None:
        """Raise LimitError when a cell is too long."""
        length = max(map(len, self.cells.values()), default=0)
        limits.check("literal_chars", length, f"line {self.where.line}: a cell has {{}} characters")


def read_rows(source: Source, delimiter: str, limits: Limits = DEFAULT) -> Iterator[Row | FormatError]:
    """Yield the rows of a table whose first line names the columns, or what is wrong with one. Blank lines are skipped.

    Raises FormatError when the header, or the quoting of the rest, is beyond reading; LimitError when the names of
    columns, which are spelled again for every row, and the cells are too much together.
    """
    if len(delimiter) != 1 or delimiter in '\r\n"':
        raise UsageError(f"the delimiter {delimiter!r} must be one character, and neither a quote nor a line end")
    reader = csv.reader(io.StringIO(source.text, newline="\n"), delimiter=delimiter, strict=True)
    header: Header | None = None
    characters = 0
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise _malformed(error, source, line) from None
        if cells is None:
            return
        if not any(cells):
            continue
        where = Span(line, 1, line, len(source.whole[line]) + 1)
        if header is None:
            header = Header(_names(cells, source, where), where, source.whole.start(line))
        elif len(cells) != len(header.names):
            yield source.fault_in(
                f"the row has {len(cells)} cells where the header has {len(header.names)}",
                where,
                hint="Put cells that hold the delimiter, a quote or a line end between quotes.",
            )
        else:
            characters += sum(map(len, header.names)) + sum(map(len, cells))
            limits.check("term_chars", characters, "columns and cells have {} characters together")
            yield Row(dict(zip(header.names, cells, strict=True)), source, where, header)


def _malformed(error: csv.Error, source: Source, line: int) -> Exception:
    if "field larger than" in str(error):
        return LimitError(f"line {line}: a cell has more than {csv.field_size_limit():,} characters")
    where = Span(line, 1, line, len(source.whole[line]) + 1)
    hint = "A quote inside a quoted cell is written twice, and the cell ends with a quote."
    return source.fault_in(str(error), where, hint=hint)


def _names(cells: list[str], source: Source, where: Span) -> list[str]:
    names = [cell.strip() for cell in cells]
    if len(set(names)) < len(names):
        doubled, _ = Counter(names).most_common(1)[0]
        raise source.fault_in(f"the header names the column {shown(doubled)!r} twice", where)
    if "" in names:
        raise source.fault_in("the header has a column without a name", where)
    return names


def lift(row: Row, vocab: str) -> Member:
    """Return the RDF of a row: the home vertex, with each column as a property in `vocab`. Cells are plain text."""
    triples = []
    for column, cell in row.cells.items():
        if cell:
            triples.append(Triple(HOME, _property(vocab, column, row), Literal(cell)))
    return Member(triples)


def _property(vocab: str, column: str, row: Row) -> NamedNode:
    try:
        return NamedNode(vocab + column.replace(" ", "_"))
    except ValueError as error:
        raise row.fault(
            f"the column {shown(column)!r} makes no IRI: {shown(str(error))}", hint="Give a mapping= for the table."
        ) from None
