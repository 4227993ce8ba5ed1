"""New numbers for what is left: what only gone subscriptions asked for, be it a term or an atom, a class or a property,
loses its number.

Whatever keeps its number's place among the others keeps the order of steps, so a segment need not be built anew: its
numbers are replaced, and what is found by hashing them is put where it belongs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ontosub.matching.compiled.atoms.atoms import Atoms
from ontosub.matching.compiled.events.concepts import Concepts
from ontosub.matching.compiled.events.dictionary import Dictionary
from ontosub.matching.compiled.index.building import rehashed
from ontosub.matching.compiled.index.layout import (
    ABOUT,
    CLASS,
    HAS_ATOM,
    HOW,
    KEY_FROM,
    KIND_MASK,
    NONE,
    NOT_TERM,
    PROPERTY,
    WHAT,
    Segment,
)
from ontosub.matching.compiled.index.part import Part
from ontosub.matching.compiled.index.plan import BACKWARD, CHECK, CHECK_ANY
from ontosub.matching.compiled.queries.vocabulary import words_in
from ontosub.model.terms import TYPE, NamedNode
from ontosub.semantics import Entailment

Array = NDArray[Any]


class Numbers(NamedTuple):
    """What gives numbers to what subscriptions and events have in common."""

    concepts: Concepts
    dictionary: Dictionary
    atoms: Atoms


class _Places(NamedTuple):
    """Where numbers stand in a segment: which nodes have those of properties, which keys and extras those of others."""

    properties: Array
    terms: Array
    atoms: Array
    not_terms: Array
    has_atoms: Array

    @classmethod
    def of(cls, segment: Segment) -> _Places:
        kind, about = segment.nodes[:, HOW] & KIND_MASK, segment.extras[:, ABOUT]
        is_atom = np.zeros(len(segment.bucket_keys), np.bool_)
        is_atom[segment.buckets[:, KEY_FROM]] = True  # the constants of a bucket follow its atom
        return cls((kind >= CHECK) & (kind <= BACKWARD), ~is_atom, is_atom, about == NOT_TERM, about == HAS_ATOM)


class _Used(NamedTuple):
    """The numbers that segments use, in order."""

    properties: Array
    bits: Array
    terms: Array
    atoms: Array
    has_property_variables: bool
    has_queries: bool

    @classmethod
    def by(cls, parts: Sequence[Part], old: Numbers) -> _Used:
        segments, atoms = [part.segment for part in parts], old.atoms
        words = words_in(record for part in parts for record in part.queries())
        found = [(segment, _Places.of(segment)) for segment in segments]
        held = _distinct(
            *(segment.bucket_keys[places.atoms] for segment, places in found),
            *(segment.extras[places.has_atoms, WHAT] for segment, places in found),
        )
        return cls(
            properties=_distinct(
                *(segment.nodes[places.properties, PROPERTY] for segment, places in found),
                old.concepts.properties_among(words),
            ),
            bits=_distinct(
                *(array for segment in segments for array in (segment.nodes[:, CLASS], segment.classes)),
                old.concepts.bits_among(words),
            ),
            terms=_distinct(
                *(segment.bucket_keys[places.terms] for segment, places in found),
                *(segment.extras[places.not_terms, WHAT] for segment, places in found),
            ),
            atoms=_distinct(atoms.needed(held)),
            has_property_variables=any((each.nodes[:, HOW] & KIND_MASK >= CHECK_ANY).any() for each in segments),
            has_queries=bool(words),
        )


def _distinct(*numbers: Array) -> Array:
    """Return the numbers, each once and in order, without those that stand for nothing."""
    found = np.unique(np.concatenate([np.empty(0, np.int64), *numbers]))
    return found[found >= 0]


def renewed(parts: Sequence[Part], old: Numbers, entailment: Entailment) -> tuple[list[Part], Numbers] | None:
    """Return parts, of which nothing has gone, with new numbers, and these; None when all numbers are in use."""
    used = _Used.by(parts, old)
    if _is_everything(old, used):
        return None
    dictionary = Dictionary()
    concepts = Concepts(entailment, dictionary)
    properties = [concepts.property_number(old.concepts.property_at(number)) for number in used.properties.tolist()]
    asked = old.concepts.export()["classes"]
    bits = [concepts.bit_of_class(NamedNode(asked[bit])) for bit in used.bits.tolist()]
    by_type = TYPE in map(old.concepts.property_at, used.properties.tolist())
    concepts.keep(types=by_type or used.has_property_variables, unknown=used.has_property_variables)
    if used.has_queries:
        concepts.keep(types=old.concepts.keep_types, unknown=old.concepts.keep_unknown)
    concepts.tables  # noqa: B018 - they need numbers for the terms of the ontology
    terms = dictionary.number(map(old.dictionary.term, used.terms.tolist()))
    new = _Renumbering(
        _by_number(used.properties, properties),
        _by_number(used.bits, bits),
        _by_number(used.terms, terms),
        _by_number(used.atoms, range(len(used.atoms))),
    )
    return [part.renumbered(new.of(part.segment)) for part in parts], Numbers(
        concepts, dictionary, old.atoms.chosen(used.atoms)
    )


def _is_everything(old: Numbers, used: _Used) -> bool:
    """Say whether all numbers are in use, by subscriptions or by the ontology."""
    named = np.union1d(old.concepts.terms(), used.terms)
    known = len(old.concepts.export()["properties"])
    properties = np.union1d(old.concepts.own_properties(), used.properties)
    asked = len(old.concepts.export()["classes"])
    return (len(properties), len(used.bits), len(named), len(used.atoms)) == (
        known,
        asked,
        len(old.dictionary),
        len(old.atoms),
    )


def _by_number(old: Array, new: Iterable[int]) -> Array:
    """Return new numbers by old ones; what is -1 stays so."""
    numbers = np.full(int(old.max(initial=-1)) + 2, NONE, np.int32)
    numbers[old] = list(new)
    return numbers


class _Renumbering(NamedTuple):
    """New numbers, by old ones."""

    properties: Array
    bits: Array
    terms: Array
    atoms: Array

    def of(self, segment: Segment) -> Segment:
        """Return the segment with the new numbers."""
        places = _Places.of(segment)
        nodes, keys, extras = segment.nodes.copy(), segment.bucket_keys.copy(), segment.extras.copy()
        nodes[places.properties, PROPERTY] = self.properties[nodes[places.properties, PROPERTY]]
        nodes[:, CLASS] = self.bits[nodes[:, CLASS]]
        keys[places.terms] = self.terms[keys[places.terms]]
        keys[places.atoms] = self.atoms[keys[places.atoms]]
        extras[places.not_terms, WHAT] = self.terms[extras[places.not_terms, WHAT]]
        extras[places.has_atoms, WHAT] = self.atoms[extras[places.has_atoms, WHAT]]
        classes = self.bits[segment.classes]
        return rehashed(segment._replace(nodes=nodes, bucket_keys=keys, extras=extras, classes=classes))
