"""Many regular expressions at once: RE2's sets, which run over a text one time for all of their patterns.

A set that grows too large for its memory is halved; a pattern that has none to share is searched for by itself. RE2 may
also run out of memory during a search, and then reports nothing at all: a pattern that is found in every text, put
first into each set, tells that from a text without matches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

import numpy as np
import re2
from numpy.typing import NDArray

from ontosub.matching.compiled.atoms.bodies import BEGIN, END, KIND, Bodies
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.regex import compile_pattern, matches

Array = NDArray[Any]

SET_MEMORY_BYTES = 1 << 26
"""What one set may use."""


class Regex(NamedTuple):
    """A pattern as XPath writes it and as RE2 does, with what RE2 is told beside it, and the atom that it decides."""

    pattern: str
    flags: str
    translated: str
    is_case_sensitive: bool
    is_literal: bool
    atom: int


def regex_of(pattern: str, flags: str, atom: int) -> Regex:
    """Return the pattern, which must be valid, with its translation."""
    compiled = cast("Any", compile_pattern(pattern, flags))
    options = compiled.options
    return Regex(pattern, flags, compiled.pattern, options.case_sensitive, options.literal, atom)


class Regexes:
    """Finds the patterns that match somewhere in a text."""

    def __init__(self, regexes: list[Regex]) -> None:
        self._sets = [made for alike in _alike(regexes) for made in _sets(alike)]

    def find(self, bodies: Bodies, domain: int) -> Array:
        """Return the keys of the atoms that hold; see `keys`."""
        text, table = bodies.buffer.tobytes(), bodies.table
        keys: list[int] = []
        for vertex in np.nonzero((domain >> table[:, KIND]) & 1)[0].tolist():
            body = text[table[vertex, BEGIN] : table[vertex, END]]
            keys.extend((vertex << 32) | atom for each in self._sets for atom in each.atoms_in(body))
        return np.array(keys, np.int64)


class _Set:
    """Patterns that share a set, or, if there is none, are tried one by one."""

    def __init__(self, regexes: list[Regex], compiled: Any) -> None:
        self._regexes = regexes
        self._atoms = [regex.atom for regex in regexes]
        self._compiled = compiled

    def atoms_in(self, text: bytes) -> list[int]:
        """Return the atoms of the patterns that match."""
        found = None if self._compiled is None else self._compiled.Match(text)
        if found:
            return [self._atoms[index - 1] for index in found if index]
        decoded = text.decode()
        return [regex.atom for regex in self._regexes if _matches(decoded, regex)]


def _matches(text: str, regex: Regex) -> bool:
    try:
        return matches(text, regex.pattern, regex.flags)
    except ExpressionError:
        return False


def _alike(regexes: list[Regex]) -> Iterator[list[Regex]]:
    """Yield the patterns in groups that can share a set: its options are for all of them."""
    groups: dict[tuple[bool, bool], list[Regex]] = {}
    for regex in regexes:
        groups.setdefault((regex.is_case_sensitive, regex.is_literal), []).append(regex)
    yield from groups.values()


def _sets(regexes: list[Regex]) -> Iterator[_Set]:
    """Yield sets for patterns that are alike, as few as memory allows."""
    compiled = _compiled(regexes)
    if compiled is not None or len(regexes) == 1:
        yield _Set(regexes, compiled)
    else:
        middle = len(regexes) // 2
        yield from _sets(regexes[:middle])
        yield from _sets(regexes[middle:])


def _compiled(regexes: list[Regex]) -> Any:
    """Return the set of the patterns behind one that is found everywhere, or None when RE2 refuses it."""
    options = re2.Options()
    options.max_mem = SET_MEMORY_BYTES
    options.log_errors = False
    options.never_capture = True
    options.case_sensitive = regexes[0].is_case_sensitive
    options.literal = regexes[0].is_literal
    compiled = re2.Set.SearchSet(options)
    try:
        compiled.Add("")
        for regex in regexes:
            compiled.Add(regex.translated)
        compiled.Compile()
    except re2.error:
        return None
    return compiled
