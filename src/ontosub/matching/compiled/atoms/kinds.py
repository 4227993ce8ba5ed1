"""What can be told of a term without its text: its kind, and of a literal its language or datatype.

All of that is in the *ending* of a literal, what follows the closing quote. Endings are few, so the atoms that hold of
each are worked out once and kept in a row; an event then only looks up the row of each vertex. Whether a literal is
numeric depends on its text too; most often the event graph knows it already.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ontosub.matching.compiled.atoms.bodies import AFTER, BLANK, END, IRI, KIND, TRIPLE, TYPED, VALUE_KIND, Bodies
from ontosub.matching.compiled.atoms.keys import noted
from ontosub.matching.compiled.atoms.unary import Atom, Test
from ontosub.matching.compiled.events import literals
from ontosub.matching.compiled.events.dictionary import UNKNOWN, Dictionary, find, hash_of
from ontosub.model.expression import Function
from ontosub.model.terms import RDF, XSD, Literal, NamedNode
from ontosub.semantics.values import number_of

Array = NDArray[Any]

ENDINGS_MAX = 10_000
"""How many endings are kept between events. A publisher may make up any number of datatypes."""

_RESOURCES = ((IRI, Function.IS_IRI), (BLANK, Function.IS_BLANK), (TRIPLE, None))
"""The first rows, whose numbers are the kinds; those of endings follow."""


class Kinds:
    """Finds the atoms about kind, language and datatype."""

    def __init__(self) -> None:
        self._atoms: dict[tuple[Test, str], int] = {}
        self._forget()

    def __len__(self) -> int:
        return len(self._atoms)

    def add(self, atom: Atom, number: int) -> None:
        """Add an atom that was not added before."""
        self._atoms[atom.test, atom.text] = number
        self._forget()

    def find(self, bodies: Bodies) -> Array:
        """Return the keys of the atoms that hold; see `keys`."""
        if len(self._endings) > ENDINGS_MAX:
            self._forget()
        rows = self._rows_of(bodies)
        unknown = np.nonzero(rows == UNKNOWN)[0].tolist()
        if unknown:
            self._learn(sorted({bodies.ending(vertex).decode() for vertex in unknown}))
            rows = self._rows_of(bodies)
        keys: Array = _keys_of(rows, self._row_from, self._row_atoms)
        if any((test, Function.IS_NUMERIC.value) in self._atoms for test in (Test.KIND, Test.OTHER_KIND)):
            keys = np.append(keys, self._about_numbers(bodies))
        return keys

    def _rows_of(self, bodies: Bodies) -> Array:
        endings = self._endings
        rows: Array = _rows(*bodies, endings.slots, endings.hashes, endings.offsets, endings.text)
        return rows

    def _forget(self) -> None:
        self._endings = Dictionary()
        self._row_from, self._row_atoms = np.zeros(1, np.int64), np.empty(0, np.int64)
        self._append([self._among(_tests_of_kind(function)) for _, function in _RESOURCES])

    def _learn(self, endings: list[str]) -> None:
        self._endings.number(endings)
        self._append([self._among(_tests_of_ending(ending)) for ending in endings])

    def _among(self, tests: Iterator[tuple[Test, str]]) -> list[int]:
        """Return the numbers of those tests that are asked for."""
        return [self._atoms[test] for test in tests if test in self._atoms]

    def _append(self, rows: list[list[int]]) -> None:
        ends = self._row_from[-1] + np.cumsum([len(row) for row in rows])
        self._row_from = np.append(self._row_from, ends)
        self._row_atoms = np.append(self._row_atoms, np.array([atom for row in rows for atom in row], np.int64))

    def _about_numbers(self, bodies: Bodies) -> Array:
        kinds = bodies.table[:, VALUE_KIND]
        is_numeric = kinds == literals.NUMBER
        for vertex in np.nonzero((kinds == literals.UNSURE) & (bodies.table[:, KIND] == TYPED))[0].tolist():
            datatype = NamedNode(_language_and_datatype(bodies.ending(vertex).decode())[1])
            is_numeric[vertex] = number_of(Literal(bodies.body(vertex).decode(), datatype=datatype)) is not None
        numeric = self._atoms.get((Test.KIND, Function.IS_NUMERIC.value))
        other = self._atoms.get((Test.OTHER_KIND, Function.IS_NUMERIC.value))
        holding = ((atom, test) for atom, test in ((numeric, is_numeric), (other, ~is_numeric)) if atom is not None)
        return np.concatenate([(np.nonzero(test)[0] << 32) | atom for atom, test in holding])


def _tests_of_kind(kind: Function | None) -> Iterator[tuple[Test, str]]:
    """Yield what holds of a term that is of this of the three kinds, or of none."""
    for function in (Function.IS_IRI, Function.IS_BLANK, Function.IS_LITERAL):
        yield Test.KIND if function is kind else Test.OTHER_KIND, function.value


def _tests_of_ending(ending: str) -> Iterator[tuple[Test, str]]:
    """Yield what holds of a literal with this ending."""
    yield from _tests_of_kind(Function.IS_LITERAL)
    language, datatype = _language_and_datatype(ending)
    yield Test.DATATYPE, datatype
    yield Test.LANGUAGE, language
    # A range matches a language that is it or goes on with a hyphen.
    yield from ((Test.RANGE, language[:i]) for i, character in enumerate(language) if character == "-")
    yield Test.RANGE, language
    if language:
        yield Test.RANGE, "*"


def _language_and_datatype(ending: str) -> tuple[str, str]:
    if ending.startswith("^^"):
        return "", ending.removeprefix("^^<").removesuffix(">")
    if not ending:
        return "", XSD["string"].value
    language, _, direction = ending.removeprefix("@").lower().partition("--")
    return language, RDF["dirLangString" if direction else "langString"].value


@njit(cache=True)
def _rows(buffer: Array, table: Array, slots: Array, hashes: Array, offsets: Array, text: Array) -> Array:
    """Return the row of each vertex; UNKNOWN where the ending is new."""
    rows = np.empty(table.shape[0], np.int64)
    for vertex in range(table.shape[0]):
        rows[vertex] = table[vertex, KIND]
        if rows[vertex] > TRIPLE:
            begin, end = table[vertex, END], table[vertex, AFTER]
            number = find(buffer, begin, end, hash_of(buffer, begin, end), slots, hashes, offsets, text)
            rows[vertex] = UNKNOWN if number == UNKNOWN else TRIPLE + 1 + number
    return rows


@njit(cache=True)
def _keys_of(rows: Array, row_from: Array, row_atoms: Array) -> Array:
    keys, count = np.empty(64, np.int64), 0
    for vertex in range(rows.shape[0]):
        for i in range(row_from[rows[vertex]], row_from[rows[vertex] + 1]):
            keys = noted(keys, count, vertex, row_atoms[i])
            count += 1
    return keys[:count]
