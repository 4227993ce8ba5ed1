"""The tables of an ontology in one array: a kernel then unpacks one argument instead of thirty, each time.

The array begins with single numbers and the places at which lists start; the constants below say which is where. A list
of lists has two places: `packed[packed[X_FROM] + i]` is where, in the whole array, list i starts, and the entry after
it where list i ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ontosub.matching.compiled.events.concepts import Concepts, Tables

Array = NDArray[Any]

# Single numbers.
TYPE_NUMBER, TYPE_PROPERTY, KEEP_TYPES, KEEP_UNKNOWN = 0, 1, 2, 3
KNOWN_PROPERTIES, KNOWN_CLASSES, WORDS, STRING_CLASS, LANGUAGE_CLASS = 4, 5, 6, 7, 8
HAS_BACKGROUND, HAS_EXPANSIONS, HAS_TRANSITIVE, HAS_GIVEN = 9, 10, 11, 12
"""Whether there is any statement in the background, any property that implies another one, any transitive property, any
property that gives classes to its ends."""

# Lists by property: what holds with an arc (of a property that holds against it, the complement), what holds with an
# arc to a literal, and the classes that it gives to its ends.
ALONG_FROM, LITERAL_FROM = 13, 14
SUBJECT_FROM, OBJECT_FROM, LITERAL_SUBJECT_FROM = 15, 16, 17

# Lists by class: the classes directly above it.
PARENTS_FROM = 18

# Lists of asked classes, as bits. Plain lists tell which of them is whose: by bit, what is above; by class, what is
# nearest to it, and to literals of which it is the datatype; by property, what is nearest to the classes that it gives
# to its ends; and single numbers, what every resource and every literal has.
NEAR_FROM, NEAR_ABOVE, NEAR_CLASS, NEAR_LITERAL = 19, 20, 21, 22
NEAR_SUBJECT, NEAR_OBJECT, NEAR_LITERAL_SUBJECT = 23, 24, 25
NEAR_TOP, NEAR_ANY_LITERAL = 26, 27

# A list of one row: transitive properties.
TRANSITIVE_FROM = 28

# Plain lists: the dictionary's numbers of classes (-1: no arc leads there), properties and objects of the background.
CLASS_TERM, ABOUT_PROPERTY, ABOUT_OBJECT = 29, 30, 31

# A single number: the class of strings that have a language and a direction.
DIRECTION_CLASS = 32

_HEAD = 33

_packed: WeakKeyDictionary[Concepts, tuple[Tables, Array]] = WeakKeyDictionary()


def packed_tables(concepts: Concepts) -> Array:
    """Return the packed tables of the concepts as they are now."""
    tables = concepts.tables
    found = _packed.get(concepts)
    if found is None or found[0] is not tables:
        found = _packed[concepts] = tables, _pack(tables)
    return found[1]


def _pack(tables: Tables) -> Array:
    """Lay the tables out in one array."""
    properties = len(tables.along[0]) - 1
    expands = max(len(tables.along[1]), len(tables.literal[1])) > properties
    gives = len(tables.subject[1]) + len(tables.object[1]) + len(tables.literal_subject[1]) > 0
    builder = _Builder()
    builder.numbers(
        (TYPE_NUMBER, tables.type_number),
        (TYPE_PROPERTY, tables.type_property),
        (KEEP_TYPES, tables.keep_types),
        (KEEP_UNKNOWN, tables.keep_unknown),
        (KNOWN_PROPERTIES, properties),
        (KNOWN_CLASSES, len(tables.class_term)),
        (WORDS, tables.words),
        (STRING_CLASS, tables.string_class),
        (LANGUAGE_CLASS, tables.language_class),
        (DIRECTION_CLASS, tables.direction_class),
        (HAS_BACKGROUND, len(tables.about_property) > 0),
        (HAS_EXPANSIONS, expands),
        (HAS_TRANSITIVE, len(tables.transitive) > 0),
        (HAS_GIVEN, gives),
        (NEAR_TOP, tables.near_top),
        (NEAR_ANY_LITERAL, tables.near_any_literal),
    )
    builder.lists(ALONG_FROM, *tables.along)
    builder.lists(LITERAL_FROM, *tables.literal)
    builder.lists(SUBJECT_FROM, *tables.subject)
    builder.lists(OBJECT_FROM, *tables.object)
    builder.lists(LITERAL_SUBJECT_FROM, *tables.literal_subject)
    builder.lists(PARENTS_FROM, *tables.parents)
    builder.lists(NEAR_FROM, tables.nearest.list_from, tables.nearest.lists)
    builder.plain(NEAR_ABOVE, tables.nearest.above)
    builder.plain(NEAR_CLASS, tables.nearest.of_class)
    builder.plain(NEAR_LITERAL, tables.near_literal)
    builder.plain(NEAR_SUBJECT, tables.near_subject)
    builder.plain(NEAR_OBJECT, tables.near_object)
    builder.plain(NEAR_LITERAL_SUBJECT, tables.near_literal_subject)
    builder.lists(TRANSITIVE_FROM, np.array([0, len(tables.transitive)]), tables.transitive)
    builder.plain(CLASS_TERM, tables.class_term)
    builder.plain(ABOUT_PROPERTY, tables.about_property)
    builder.plain(ABOUT_OBJECT, tables.about_object)
    return builder.build()


class _Builder:
    def __init__(self) -> None:
        self._head = np.zeros(_HEAD, np.int64)
        self._parts: list[Array] = [self._head]
        self._size = _HEAD

    def numbers(self, *numbers: tuple[int, int]) -> None:
        for place, number in numbers:
            self._head[place] = number

    def plain(self, place: int, members: Iterable[int]) -> None:
        part = np.asarray(members, np.int64)
        self._head[place] = self._size
        self._parts.append(part)
        self._size += len(part)

    def lists(self, place: int, starts: Array, members: Array) -> None:
        self.plain(place, starts + (self._size + len(starts)))
        self._parts.append(np.asarray(members, np.int64))
        self._size += len(members)

    def build(self) -> Array:
        return np.concatenate(self._parts)
