"""The ontology in numbers: what each property and class of an event expands to, computed once.

A property expands to all properties that hold with it, along the arc or against it; and to the classes that it gives
to either end. From a class, all above it are reached (`ancestry`). Transitive properties are closed on the event
itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ontosub.matching.compiled.events.ancestry import Ancestry, Lists, Nearest, Unions, packed_lists
from ontosub.matching.compiled.events.dictionary import UNKNOWN, Dictionary
from ontosub.matching.compiled.events.expansions import Expansions
from ontosub.model.terms import (
    DATATYPES,
    LITERAL_CLASS,
    RDF,
    TOP_CLASSES,
    TYPE,
    XSD,
    NamedNode,
    datatype_closure,
    written,
)
from ontosub.semantics import Entailment

Array = NDArray[Any]


class Tables(NamedTuple):
    """Arrays for the kernel that makes an event graph.

    `property_of`, `class_of` and `about_from` are by dictionary number; terms that came later are none of these.
    Expansions come in two kinds, because an arc to a literal is never turned around; so do the classes that a property
    gives to its ends. `near_*` are numbers of lists of `nearest`, by class, by property, or for all alike. `class_term`
    is -1 for classes that no arc leads to.
    """

    property_of: Array
    class_of: Array
    type_number: int
    type_property: int
    keep_types: bool
    keep_unknown: bool
    along: Lists
    literal: Lists
    subject: Lists
    object: Lists
    literal_subject: Lists
    near_subject: Array
    near_object: Array
    near_literal_subject: Array
    transitive: Array
    parents: Lists
    nearest: Nearest
    near_literal: Array
    near_top: int
    near_any_literal: int
    class_term: Array
    string_class: int
    language_class: int
    direction_class: int
    words: int
    about_from: Array
    about_property: Array
    about_object: Array


class Concepts:
    """Numbers for classes and properties, and the tables made from them.

    Numbers are given when first asked for and never change; the tables are made anew when there are new ones.
    """

    def __init__(self, entailment: Entailment, dictionary: Dictionary) -> None:
        self._entailment = entailment
        self._dictionary = dictionary
        self._classes: dict[NamedNode, int] = {}
        self._class_terms = _Terms(dictionary)
        self._properties: dict[NamedNode, int] = {}
        self._property_terms = _Terms(dictionary)
        self._property_list: list[NamedNode] = []
        self._expansions = Expansions(entailment, self._properties, self._classes)
        self._asked: dict[int, int] = {}
        self._sets: dict[frozenset[NamedNode], int] = {}
        self._set_bits: list[tuple[int, ...]] = []
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
        numbers = self._classes
        pairs = ((numbers[narrower], numbers[wider]) for narrower, wider in ontology.subclasses)
        self._ancestry = Ancestry(pairs, len(numbers))
        used = [
            *(property_ for pair in ontology.subproperties | ontology.inverses for property_ in pair),
            *(property_ for property_, _ in ontology.domains | ontology.ranges),
            *ontology.symmetric,
            *ontology.transitive,
            *(triple.predicate for triple in self._entailment.background),
        ]
        for property_ in sorted({*used}, key=str):
            self.property_number(property_)
        self._own_properties = len(self._properties)

    def property_number(self, property_: NamedNode) -> int:
        """Return the property's number."""
        number = self._properties.get(property_)
        if number is None:
            number = self._properties[property_] = len(self._properties)
            self._property_list.append(property_)
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

    def class_at(self, bit: int) -> NamedNode:
        """Return the class that has the bit."""
        number = next(each for each, asked in self._asked.items() if asked == bit)
        return next(class_ for class_, each in self._classes.items() if each == number)

    def number_of_set(self, classes: frozenset[NamedNode]) -> int:
        """Return the number of a set of classes that subscriptions ask for together."""
        number = self._sets.get(classes)
        if number is None:
            bits = tuple(sorted(map(self.bit_of_class, classes)))
            number = self._sets[classes] = len(self._sets)
            self._set_bits.append(bits)
        return number

    def class_sets(self) -> tuple[Array, Array]:
        """Return where the bits of each set start, and the bits of all sets."""
        starts, bits = packed_lists(self._set_bits)
        return starts.astype(np.int32), bits.astype(np.int32)

    def keep(self, *, types: bool = False, unknown: bool = False) -> None:
        """Ask for type statements as arcs, or for arcs whose property no subscription names."""
        if (types and not self.keep_types) or (unknown and not self.keep_unknown):
            self.keep_types |= types
            self.keep_unknown |= unknown
            self._tables = None

    def export(self) -> dict[str, Any]:
        """Return what `load` needs to give the same numbers again."""
        by_number = list(self._classes)
        return {
            "classes": [by_number[number].value for number in self._asked],
            "properties": [property_.value for property_ in self._properties],
            "types": self.keep_types,
            "unknown": self.keep_unknown,
        }

    def load(self, exported: dict[str, Any]) -> None:
        """Give the numbers that were given when this was exported; ValueError when that is not possible."""
        for number, property_ in enumerate(exported["properties"]):
            if self.property_number(NamedNode(property_)) != number:
                raise ValueError(f"the property {property_} had another number")
        for bit, class_ in enumerate(exported["classes"]):
            if self.bit_of_class(NamedNode(class_)) != bit:
                raise ValueError(f"the class {class_} had another number")
        self.keep(types=bool(exported["types"]), unknown=bool(exported["unknown"]))

    def property_at(self, number: int) -> NamedNode:
        """Return the property that has the number."""
        return self._property_list[number]

    @property
    def properties_count(self) -> int:
        """How many properties have a number."""
        return len(self._property_list)

    def properties_among(self, words: Iterable[NamedNode]) -> Array:
        """Return the numbers of the properties among some words."""
        return np.array([self._properties[word] for word in words if word in self._properties], np.int64)

    def bits_among(self, words: Iterable[NamedNode]) -> Array:
        """Return the bits of the classes among some words that subscriptions ask for."""
        numbers = (self._classes.get(word, -1) for word in words)
        return np.array([self._asked[number] for number in numbers if number in self._asked], np.int64)

    def own_properties(self) -> Array:
        """Return the numbers of the properties that have one for the sake of the ontology."""
        return np.union1d(np.arange(self._own_properties), [self.property_number(TYPE)])

    def terms(self) -> Array:
        """Return the numbers in the dictionary that the tables speak of."""
        tables = self.tables
        subjects = np.flatnonzero(np.diff(tables.about_from))
        own = self._property_terms.of(self._property_list), self._class_terms.of(self._classes)
        return np.unique(np.concatenate([*own, subjects, tables.about_object]))

    @property
    def tables(self) -> Tables:
        """The tables for all numbers given so far."""
        if self._tables is None:
            self._tables = self._make()
        return self._tables

    def _make(self) -> Tables:
        self.property_number(TYPE)
        property_terms = self._property_terms.of(self._property_list)
        class_terms = self._class_terms.of(self._classes)
        about_from, about_property, about_object = self._background
        expansions = self._expansions.of_all()
        size = len(self._dictionary)
        property_of = np.full(size, UNKNOWN, np.int32)
        property_of[property_terms] = np.arange(len(property_terms))
        class_of = np.full(size, UNKNOWN, np.int32)
        class_of[class_terms] = np.arange(len(class_terms))
        bit_of = np.full(len(self._classes), -1, np.int64)
        bit_of[list(self._asked)] = list(self._asked.values())
        near = Unions(self._ancestry.nearest(bit_of))
        subject, object_, literal_subject = (
            [getattr(each, name) for each in expansions] for name in ("subject", "object", "literal_subject")
        )
        near_literal = near.of_class.copy()
        for datatype in DATATYPES:
            near_literal[self._classes[datatype]] = near.of(self._numbers_of(datatype_closure(datatype)))
        no_arcs = self._numbers_of(TOP_CLASSES | DATATYPES | {LITERAL_CLASS})
        leads_to = class_terms.astype(np.int64)
        leads_to[no_arcs] = UNKNOWN
        return Tables(
            property_of=property_of,
            class_of=class_of,
            type_number=self._dictionary.find(str(TYPE)),
            type_property=self._properties[TYPE],
            keep_types=self.keep_types,
            keep_unknown=self.keep_unknown,
            along=packed_lists([each.along for each in expansions]),
            literal=packed_lists([each.literal for each in expansions]),
            subject=packed_lists(subject),
            object=packed_lists(object_),
            literal_subject=packed_lists(literal_subject),
            near_subject=near.of_all(subject),
            near_object=near.of_all(object_),
            near_literal_subject=near.of_all(literal_subject),
            transitive=np.array(
                sorted(self._properties[each] for each in self._entailment.ontology.transitive), np.int64
            ),
            parents=self._ancestry.parents_of(len(self._classes)),
            near_literal=near_literal,
            near_top=near.of(self._numbers_of(TOP_CLASSES)),
            near_any_literal=near.of(self._numbers_of([LITERAL_CLASS])),
            nearest=near.nearest(),
            class_term=leads_to,
            string_class=self._classes[XSD["string"]],
            language_class=self._classes[RDF["langString"]],
            direction_class=self._classes[RDF["dirLangString"]],
            words=len(self._asked) // 64 + 1,
            about_from=_fitted(about_from, size),
            about_property=about_property,
            about_object=about_object,
        )

    def _numbers_of(self, classes: Iterable[NamedNode]) -> list[int]:
        return sorted(self._classes[class_] for class_ in classes)

    @cached_property
    def _background(self) -> tuple[Array, Array, Array]:
        """The closed background by subject: where each one's statements are, their properties and objects."""
        triples = list(self._entailment.background)
        subjects = self._dictionary.number(str(triple.subject) for triple in triples)
        objects = self._dictionary.number(written(triple.object) for triple in triples)
        properties = np.array([self.property_number(triple.predicate) for triple in triples], np.int32)
        order = np.argsort(subjects, kind="stable")
        counts = np.bincount(subjects, minlength=len(self._dictionary)) if len(triples) else np.zeros(1, np.int64)
        return np.concatenate([[0], np.cumsum(counts)]), properties[order], objects[order]


class _Terms:
    """The numbers in the dictionary of terms that become more and more."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._numbers = np.empty(0, np.int32)

    def of(self, terms: Iterable[NamedNode]) -> Array:
        """Return the numbers of the terms, of which the first are those of the last time."""
        new = [str(term) for term in list(terms)[len(self._numbers) :]]
        if new:
            self._numbers = np.concatenate([self._numbers, self._dictionary.number(new)])
        return self._numbers


def _fitted(starts: Array, size: int) -> Array:
    """Return the starts for `size` subjects: those that came later have no statements."""
    return np.concatenate([starts, np.full(max(0, size + 1 - len(starts)), starts[-1])]).astype(np.int64)
