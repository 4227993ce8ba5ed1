"""The data of generated SPARQL cases: few terms, many ways to write nearly the same value, small events.

Terms are N-Triples texts, which SPARQL reads as well. Domains are small, so that joins, duplicates and near-equal
spellings happen often. Fractions are dyadic, and integers beyond 2^53 never meet floating-point numbers in one event:
a sum is then the same in any order.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import NamedTuple

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"

INDIVIDUALS = ("<urn:i0>", "<urn:i1>", "<urn:i2>")
BLANKS = ("_:b0", "_:b1")
CLASSES = ("<urn:C0>", "<urn:C1>", "<urn:C2>")
PROPERTIES = ("<urn:p0>", "<urn:p1>", "<urn:p2>")
OFTEN = ("<urn:p0>", "<urn:p0>", "<urn:p0>", "<urn:p1>", "<urn:p1>", "<urn:p2>")
"""Properties by how often events and queries use them: a favourite makes them meet."""
GRAPHS = ("<urn:g0>", "<urn:g1>", "_:g")
ABSENT = "<urn:absent>"
"""An IRI that no event has."""


def typed(value: str, datatype: str) -> str:
    """Return a literal with a datatype of XSD."""
    return f'"{value}"^^<{XSD}{datatype}>'


SMALL_NUMBERS = (
    *(typed(value, "integer") for value in ("0", "1", "01", "+1", "2", "-3", "350")),
    *(typed(value, "decimal") for value in ("1.0", "0.5", "350.0", "350.00", "-0.0", "2.25")),
    typed("7", "byte"),
    typed("1", "unsignedInt"),
)
FLOATING = (
    *(typed(value, "double") for value in ("1", "1.0E0", "1.5e0", "NaN", "INF", "-INF", "-0.0", "0.0", "350")),
    *(typed(value, "float") for value in ("1.5", "NaN", "-0", "2")),
)
BIG_NUMBERS = (
    typed("12345678901234567890123", "integer"),
    typed("9223372036854775807", "integer"),
    typed("9223372036854775808", "integer"),
    typed("-170141183460469231731687303715884105728", "integer"),
    typed("1234567890123456789.125", "decimal"),
)
BOOLEANS = tuple(typed(value, "boolean") for value in ("true", "false", "1", "0"))
MOMENTS = (
    *(
        typed(value, "dateTime")
        for value in (
            "2024-02-29T10:00:00",
            "2024-02-29T10:00:00Z",
            "2024-02-29T12:00:00+02:00",
            "2024-02-29T10:00:00.50Z",
            "2024-02-29T10:00:00.5Z",
            "2024-02-28T24:00:00Z",
            "-0044-03-15T00:00:00Z",
        )
    ),
    *(typed(value, "date") for value in ("2024-02-29", "2024-02-29Z", "2024-02-29-05:00")),
    *(typed(value, "time") for value in ("10:00:00", "10:00:00Z", "12:00:00+02:00")),
    typed("2024", "gYear"),
    typed("2024Z", "gYear"),
    typed("2024-02", "gYearMonth"),
    typed("--02-29", "gMonthDay"),
)
DURATIONS = (
    typed("P1Y2M", "yearMonthDuration"),
    typed("P14M", "yearMonthDuration"),
    typed("P1DT12H", "dayTimeDuration"),
    typed("PT36H", "dayTimeDuration"),
    typed("P1M", "duration"),
    typed("-PT0.5S", "duration"),
)
STRINGS = (
    '"red"',
    '"Red"',
    '""',
    '"1"',
    '"r\\u00F8d"',
    '"\\U0001F600 a"',
    '"a\\nb"',
    '"urn:i0"',
    '"red"@en',
    '"red"@en-GB',
    '"Red"@en',
    '"rot"@de',
    '""@en',
)
ILL_TYPED = (
    typed("abc", "integer"),
    typed("maybe", "boolean"),
    typed("300", "byte"),
    typed("2023-02-29", "date"),
    typed("1e0", "decimal"),
)
"""Only events have these: in a subscription they are refused as slips of the pen."""
ODD = (
    *ILL_TYPED,
    typed("urn:i0", "anyURI"),
    typed("0A", "hexBinary"),
    '"x"^^<urn:datatype>',
    '"1"^^<urn:datatype>',
)
"""Literals without operators in SPARQL."""

DIRECTIONAL = ('"red"@en--ltr', '"red"@en--rtl')

KINDS = (SMALL_NUMBERS, SMALL_NUMBERS, FLOATING, BOOLEANS, MOMENTS, DURATIONS, STRINGS, STRINGS, ODD)

PLAIN = (
    *(typed(value, "integer") for value in ("0", "1", "2", "-3", "350")),
    '"red"',
    '"Red"',
    '""',
    '"blue 1"',
    '"rot"@de',
    '"red"@en',
    typed("true", "boolean"),
    typed("false", "boolean"),
    typed("2024-02-29T10:00:00Z", "dateTime"),
)
"""No two spellings of one value, nothing ill-typed, nothing whose operators SPARQL leaves open."""


@dataclass(frozen=True, slots=True)
class Features:
    """What cases may have."""

    rdf12: bool = False
    """Triple terms and directional strings."""
    entailment: bool = True
    named_graphs: bool = True
    plain: bool = False
    """Only what SPARQL leaves no choice about, so that other engines must agree."""


class Data(NamedTuple):
    """The terms that one group of cases speaks about."""

    literals: tuple[str, ...]
    features: Features

    @property
    def constants(self) -> tuple[str, ...]:
        """The literals that a query may name."""
        # Other engines rewrite the moments of a query, though not those of an event.
        left_out = MOMENTS if self.features.plain else ILL_TYPED
        return tuple(each for each in self.literals if each not in left_out) or ("1",)


def data(chance: random.Random, features: Features) -> Data:
    """Draw the few literals that a group of cases shares."""
    if features.plain:
        return Data(tuple(chance.sample(PLAIN, 6)), features)
    kinds = [*KINDS, DIRECTIONAL] if features.rdf12 else list(KINDS)
    drawn = [chance.choice(chance.choice(kinds)) for _ in range(6)]
    # Two literals of one kind are often equal in value and different in spelling.
    kind = chance.choice(kinds)
    drawn += [chance.choice(kind), chance.choice(kind)]
    if chance.random() < 0.15:
        drawn = [each for each in drawn if each not in FLOATING] + [chance.choice(BIG_NUMBERS)]
    return Data(tuple(dict.fromkeys(drawn)), features)


def ontology_text(chance: random.Random, features: Features) -> str:
    """Draw an ontology, as N-Triples."""
    if not features.entailment:
        return ""
    axioms = [f"{each} <{RDF}type> <{OWL}Class> ." for each in CLASSES]
    axioms += [f"{each} <{RDF}type> <{RDF}Property> ." for each in PROPERTIES]
    for _ in range(chance.randrange(5)):
        property_, other = chance.choice(PROPERTIES), chance.choice(PROPERTIES)
        axioms.append(
            chance.choice(
                [
                    f"{chance.choice(CLASSES)} <{RDFS}subClassOf> {chance.choice(CLASSES)} .",
                    f"{property_} <{RDFS}subPropertyOf> {other} .",
                    f"{property_} <{RDFS}domain> {chance.choice(CLASSES)} .",
                    f"{property_} <{RDFS}range> {chance.choice(CLASSES)} .",
                    f"{property_} <{OWL}inverseOf> {other} .",
                    f"{property_} <{RDF}type> <{OWL}TransitiveProperty> .",
                    f"{property_} <{RDF}type> <{OWL}SymmetricProperty> .",
                ]
            )
        )
    return "\n".join(axioms) + "\n"


def event_text(chance: random.Random, drawn: Data) -> str:
    """Draw an event, as N-Quads."""
    lines = [_statement(chance, drawn) + " ." for _ in range(chance.randrange(3, 13))]
    if drawn.features.named_graphs and chance.random() < 0.5:
        names = GRAPHS[:2] if drawn.features.plain else GRAPHS
        lines += [f"{_statement(chance, drawn)} {chance.choice(names)} ." for _ in range(chance.randrange(1, 5))]
    return "\n".join(dict.fromkeys(lines)) + "\n"


def _statement(chance: random.Random, drawn: Data) -> str:
    resources = INDIVIDUALS if drawn.features.plain else INDIVIDUALS + BLANKS
    subject = chance.choice(resources)
    if chance.random() < 0.2:
        return f"{subject} <{RDF}type> {chance.choice(CLASSES)}"
    object_ = chance.choice(drawn.literals) if chance.random() < 0.6 else chance.choice(resources)
    if drawn.features.rdf12 and chance.random() < 0.2:
        object_ = f"<<( {subject} {chance.choice(PROPERTIES)} {object_} )>>"
    return f"{subject} {chance.choice(OFTEN)} {object_}"
