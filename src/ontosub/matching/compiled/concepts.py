"""The ontology in numbers: what each property and class of an event expands to, computed once.

A property expands to all properties that hold with it, along the arc or against it; and to the classes that it gives
to either end. A class expands to all classes above it. Transitive properties are closed on the event itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ontosub.matching.compiled.dictionary import UNKNOWN, Dictionary
from ontosub.model.terms import (
    DATATYPES,
    LITERAL_CLASS,
    RDF,
    TOP_CLASSES,
    TYPE,
    XSD,
    NamedNode,
    datatype_closure,
)
from ontosub.semantics import Entailment

Array = NDArray[Any]


class Tables(NamedTuple):
    """Arrays for the kernel that makes an event graph. Lists of varying length are `x_from[i]:x_from[i + 1]` into `x`.

    `property_of`, `class_of` and `about_from` are by dictionary number; terms that came later are none of these.
    Expansions come in two kinds, because an arc to a literal is never turned around. `bit_of` says at which bit a class
    is kept; -1 when nobody asks for it.
    """

    property_of: Array
    class_of: Array
    type_number: int
    type_property: int
    keep_types: bool
    keep_unknown: bool
    along_from: Array
    along: Array
    along_turned: Array
    literal_from: Array
    literal: Array
    subject_from: Array
    subject: Array
    object_from: Array
    object: Array
    literal_subject_from: Array
    literal_subject: Array
    transitive: Array
    above_from: Array
    above: Array
    class_term: Array
    bit_of: Array
    top: Array
    any_literal: Array
    string_class: int
    language_class: int
    words: int
    about_from: Array
    about_property: Array
    about_object: Array
    is_implied: Array


class Concepts:
    """Numbers for classes and properties, and the tables made from them.

    Numbers are given when first asked for and never change; the tables are made anew when there are new ones.
    """

    def __init__(self, entailment: Entailment, dictionary: Dictionary) -> None:
        self._entailment = entailment
        self._dictionary = dictionary
        self._classes: dict[NamedNode, int] = {}
        self._properties: dict[NamedNode, int] = {}
        self._asked: dict[int, int] = {}
        self._tables: Tables | None = None
        self.keep_types = False
        self.keep_unknown = False
        self._register_ontology()

    def _register_ontology(self) -> None:
        ontology = self._entailment.ontology
        terms = [
            *(class_ for pair in ontology.subclasses for class_ in pair),
            *(class_ for _, class_ in ontology.domains | ontology.ranges),
            *DATATYPES,
            *TOP_CLASSES,
            LITERAL_CLASS,
        ]
        for class_ in sorted({*terms}, key=str):
            self.number_of_class(class_)
        used = [
            *(property_ for pair in ontology.subproperties | ontology.inverses for property_ in pair),
            *(property_ for property_, _ in ontology.domains | ontology.ranges),
            *ontology.symmetric,
            *ontology.transitive,
            *(triple.predicate for triple in self._entailment.background),
        ]
        for property_ in sorted({*used}, key=str):
            self.property_number(property_)

    def property_number(self, property_: NamedNode) -> int:
        """Return the property's number."""
        number = self._properties.get(property_)
        if number is None:
            number = self._properties[property_] = len(self._properties)
            self._tables = None
        return number

    def number_of_class(self, class_: NamedNode) -> int:
        """Return the class's number."""
        number = self._classes.get(class_)
        if number is None:
            number = self._classes[class_] = len(self._classes)
            self._tables = None
        return number

    def bit_of_class(self, class_: NamedNode) -> int:
        """Return the bit at which kernels keep a class that subscriptions ask for."""
        number = self.number_of_class(class_)
        bit = self._asked.get(number)
        if bit is None:
            bit = self._asked[number] = len(self._asked)
            self._tables = None
        return bit

    def keep(self, *, types: bool = False, unknown: bool = False) -> None:
        """Ask for type statements as arcs, or for arcs whose property no subscription names."""
        if (types and not self.keep_types) or (unknown and not self.keep_unknown):
            self.keep_types |= types
            self.keep_unknown |= unknown
            self._tables = None

    def property_at(self, number: int) -> NamedNode:
        """Return the property that has the number."""
        return list(self._properties)[number]

    @property
    def tables(self) -> Tables:
        """The tables for all numbers given so far."""
        if self._tables is None:
            self._tables = self._make()
        return self._tables

    def _make(self) -> Tables:
        entailment = self._entailment
        ontology = entailment.ontology
        self.property_number(TYPE)
        property_terms = self._dictionary.number(map(str, self._properties))
        class_terms = self._dictionary.number(map(str, self._classes))
        background = self._background()
        size = len(self._dictionary)
        property_of = np.full(size, UNKNOWN, np.int32)
        property_of[property_terms] = np.arange(len(property_terms))
        class_of = np.full(size, UNKNOWN, np.int32)
        class_of[class_terms] = np.arange(len(class_terms))
        along = [self._expansion(property_) for property_ in self._properties]
        upwards = [sorted(map(self._properties.__getitem__, self._above(p))) for p in self._properties]
        gives = _Giving(self)
        bit_of = np.full(len(self._classes), -1, np.int32)
        for number, bit in self._asked.items():
            bit_of[number] = bit
        above_from, above = _packed([self._classes_above([class_]) for class_ in self._classes])
        along_from, along_flat = _packed([[property_ for property_, _ in each] for each in along])
        _, turned = _packed([[int(direction < 0) for _, direction in each] for each in along])
        literal_from, literal = _packed(upwards)
        subject_from, subject = _packed([gives.to_subject(each) for each in along])
        object_from, object_ = _packed([gives.to_object(each) for each in along])
        only_up = [[(number, 1) for number in each] for each in upwards]
        literal_subject_from, literal_subject = _packed([gives.to_subject(each) for each in only_up])
        implied = TOP_CLASSES | DATATYPES | {LITERAL_CLASS}
        return Tables(
            property_of=property_of,
            class_of=class_of,
            type_number=self._dictionary.find(str(TYPE)),
            type_property=self._properties[TYPE],
            keep_types=self.keep_types,
            keep_unknown=self.keep_unknown,
            along_from=along_from,
            along=along_flat,
            along_turned=turned.astype(np.bool_),
            literal_from=literal_from,
            literal=literal,
            subject_from=subject_from,
            subject=subject,
            object_from=object_from,
            object=object_,
            literal_subject_from=literal_subject_from,
            literal_subject=literal_subject,
            transitive=np.array([p in ontology.transitive for p in self._properties], np.bool_),
            above_from=above_from,
            above=above,
            class_term=class_terms,
            bit_of=bit_of,
            top=np.array(self._classes_above(TOP_CLASSES), np.int32),
            any_literal=np.array(self._classes_above([LITERAL_CLASS]), np.int32),
            string_class=self._classes[XSD["string"]],
            language_class=self._classes[RDF["langString"]],
            words=len(self._asked) // 64 + 1,
            about_from=_fitted(background[0], size),
            about_property=background[1],
            about_object=background[2],
            is_implied=np.array([class_ in implied for class_ in self._classes], np.bool_),
        )

    def _above(self, property_: NamedNode) -> frozenset[NamedNode]:
        return self._entailment.properties.above(property_)

    def _classes_above(self, classes: Iterable[NamedNode]) -> list[int]:
        """Return the numbers of the classes and of all above them; a datatype has those that it derives from, too."""
        given = {wide for class_ in classes for wide in (datatype_closure(class_) if class_ in DATATYPES else [class_])}
        return sorted({self._classes[wide] for class_ in given for wide in self._entailment.classes.above(class_)})

    def _expansion(self, property_: NamedNode) -> list[tuple[int, int]]:
        """Return the properties that hold with this one, each with its direction: 1 along the arc, -1 against it."""
        ontology = self._entailment.ontology
        found = {(property_, 1): None}
        waiting = [(property_, 1)]
        while waiting:
            current, direction = waiting.pop()
            new = [(wider, direction) for wider in self._entailment.properties.parents(current)]
            new += [(other, -direction) for other in self._entailment.inverses(current)]
            new += [(current, -direction)] if current in ontology.symmetric else []
            waiting.extend(each for each in new if each not in found)
            found.update(dict.fromkeys(new))
        return [(self._properties[each], direction) for each, direction in found]

    def _background(self) -> tuple[Array, Array, Array]:
        """Return the closed background by subject: where each one's statements are, their properties and objects."""
        triples = list(self._entailment.background)
        subjects = self._dictionary.number(str(triple.subject) for triple in triples)
        objects = self._dictionary.number(str(triple.object) for triple in triples)
        properties = np.array([self.property_number(triple.predicate) for triple in triples], np.int32)
        order = np.argsort(subjects, kind="stable")
        counts = np.bincount(subjects, minlength=len(self._dictionary)) if len(triples) else np.zeros(1, np.int64)
        return np.concatenate([[0], np.cumsum(counts)]), properties[order], objects[order]


class _Giving:
    """Which classes a property gives to the ends of its arcs, through domain and range."""

    def __init__(self, concepts: Concepts) -> None:
        ontology = concepts._entailment.ontology
        self._domains = self._by_number(concepts, ontology.domains)
        self._ranges = self._by_number(concepts, ontology.ranges)

    @staticmethod
    def _by_number(concepts: Concepts, pairs: Iterable[tuple[NamedNode, NamedNode]]) -> dict[int, set[int]]:
        given: dict[int, set[int]] = {}
        for property_, class_ in pairs:
            given.setdefault(concepts._properties[property_], set()).update(concepts._classes_above([class_]))
        return given

    def to_subject(self, expansion: list[tuple[int, int]]) -> list[int]:
        return self._given(expansion, self._domains, self._ranges)

    def to_object(self, expansion: list[tuple[int, int]]) -> list[int]:
        return self._given(expansion, self._ranges, self._domains)

    @staticmethod
    def _given(expansion: list[tuple[int, int]], along: dict[int, set[int]], against: dict[int, set[int]]) -> list[int]:
        found: set[int] = set()
        for property_, direction in expansion:
            found |= (along if direction > 0 else against).get(property_, set())
        return sorted(found)


def _packed(lists: list[list[int]]) -> tuple[Array, Array]:
    """Return where each list starts in the second array, which holds them all."""
    starts = np.zeros(len(lists) + 1, np.int32)
    np.cumsum([len(each) for each in lists], out=starts[1:])
    return starts, np.array([number for each in lists for number in each], np.int32)


def _fitted(starts: Array, size: int) -> Array:
    """Return the starts for `size` subjects: those that came later have no statements."""
    return np.concatenate([starts, np.full(max(0, size + 1 - len(starts)), starts[-1])]).astype(np.int64)
