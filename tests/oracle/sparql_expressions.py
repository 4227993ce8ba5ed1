"""Expressions of generated SPARQL cases: every operator and function, on arguments of the right kind and of others.

A template has slots: `{e}` any value, `{n}` a number, `{s}` a string, `{t}` a moment or duration, `{i}` an IRI, `{b}` a
truth value. A slot is mostly filled with a variable or a value of that kind, sometimes with anything, so that errors
happen as well.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from sparql_terms import DURATIONS, FLOATING, INDIVIDUALS, MOMENTS, SMALL_NUMBERS, STRINGS, XSD, Data

NUMBERS = (
    "{n} + {n}",
    "{n} - {n}",
    "{n} * {n}",
    "{n} / {n}",
    "-{n}",
    "+{n}",
    "ABS({n})",
    "CEIL({n})",
    "FLOOR({n})",
    "ROUND({n})",
    "STRLEN({s})",
    "YEAR({t})",
    "MONTH({t})",
    "DAY({t})",
    "HOURS({t})",
    "MINUTES({t})",
    "SECONDS({t})",
    f"<{XSD}integer>({{e}})",
    f"<{XSD}decimal>({{e}})",
    f"<{XSD}double>({{e}})",
    f"<{XSD}float>({{e}})",
)
TEXTS = (
    "STR({e})",
    "LANG({e})",
    "UCASE({s})",
    "LCASE({s})",
    "CONCAT({s}, {s})",
    "CONCAT({s}, STR({e}), {s})",
    "SUBSTR({s}, {n})",
    "SUBSTR({s}, 2, 1)",
    "SUBSTR({s}, {n}, {n})",
    "STRBEFORE({s}, {s})",
    'STRBEFORE({s}, "e")',
    "STRAFTER({s}, {s})",
    'STRAFTER({s}, "r")',
    "ENCODE_FOR_URI({s})",
    'REPLACE({s}, "r", "-")',
    'REPLACE({s}, "(.)(.)", "$2$1", "i")',
    "STRLANG(STR({e}), 'en')",
    "STRDT(STR({e}), <" + XSD + "integer>)",
    "STRDT(STR({e}), <urn:datatype>)",
    "MD5({s})",
    "SHA1({s})",
    "SHA256({s})",
    "SHA384({s})",
    "SHA512({s})",
    "TZ({t})",
    f"<{XSD}string>({{e}})",
)
TESTS = (
    "{e} = {e}",
    "{e} != {e}",
    "{n} < {n}",
    "{e} > {e}",
    "{e} <= {e}",
    "{t} >= {t}",
    "{b} && {b}",
    "{b} || {b}",
    "!{b}",
    "{e} IN ({e}, {e})",
    "{e} NOT IN ({e}, {n})",
    "{e} IN ()",
    "sameTerm({e}, {e})",
    "isIRI({e})",
    "isURI({e})",
    "isBLANK({e})",
    "isLITERAL({e})",
    "isNUMERIC({e})",
    "BOUND({v})",
    "!BOUND({v})",
    "CONTAINS({s}, {s})",
    "STRSTARTS({s}, {s})",
    "STRENDS({s}, {s})",
    'REGEX({s}, "^r.d$", "i")',
    'REGEX(STR({e}), "i[01]")',
    "LANGMATCHES(LANG({e}), 'en')",
    "LANGMATCHES(LANG({e}), '*')",
    f"<{XSD}boolean>({{e}})",
    "NOW() = NOW()",
    "RAND() < 1",
    "isIRI(UUID())",
    "isBLANK(BNODE())",
    "BNODE(STR({e})) = BNODE(STR({e}))",
)
OTHERS = (
    "IF({b}, {e}, {e})",
    "COALESCE({e}, {e})",
    "COALESCE({n} / 0, {e}, 1)",
    "DATATYPE({e})",
    "IRI({s})",
    'IRI(CONCAT("urn:i", STR({n})))',
    "TIMEZONE({t})",
    f"<{XSD}dateTime>({{e}})",
    "{t} - {t}",
    "{t} + {t}",
    "STRLEN(STRUUID())",
)
RDF12 = (
    "isTRIPLE({e})",
    "TRIPLE({i}, {i}, {e})",
    "SUBJECT({e})",
    "PREDICATE({e})",
    "OBJECT({e})",
    "LANGDIR({e})",
    "hasLANG({e})",
    "hasLANGDIR({e})",
    "STRLANGDIR(STR({e}), 'en', 'ltr')",
)

PLAIN_NUMBERS = ("{n} + {n}", "{n} - {n}", "{n} * {n}", "-{n}", "ABS({n})", "STRLEN({s})", "YEAR({t})", "DAY({t})")
PLAIN_TEXTS = (
    "{s}",
    "UCASE({s})",
    "LCASE({s})",
    "SUBSTR({s}, 2)",
    'STRBEFORE({s}, "e")',
    'STRAFTER({s}, "e")',
    "CONCAT({s}, 'x')",
    "SHA1({s})",
)
PLAIN_TESTS = (
    "isNUMERIC({v}) && {v} < 2",
    "STRLEN({s}) >= 3",
    "{s} = {s}",
    "{s} != {s}",
    "{b} && {b}",
    "{b} || {b}",
    "!{b}",
    "sameTerm({e}, {e})",
    "isIRI({e})",
    "isLITERAL({e})",
    "isNUMERIC({e})",
    "BOUND({v})",
    "!BOUND({v})",
    'CONTAINS({s}, "e")',
    'REGEX({s}, "^r.d$", "i")',
    "LANGMATCHES(LANG({e}), 'en')",
    "{i} IN (<urn:i0>, <urn:i1>)",
)
PLAIN_OTHERS = ("IF({b}, {e}, {e})", "COALESCE({e}, {e})", "DATATYPE({e})", "LANG({e})")
"""Without what SPARQL leaves open: equality of unlike literals, truth of strings with a language, functions of strings
on other terms."""

_SLOT = re.compile(r"\{([ensbtiv])\}")


class Expressions:
    """Draws expressions over variables. `exists` draws the pattern of an EXISTS, if one may stand here."""

    def __init__(self, chance: random.Random, drawn: Data) -> None:
        self._chance = chance
        self._literals = drawn.constants
        plain, rdf12 = drawn.features.plain, drawn.features.rdf12
        self._numbers = PLAIN_NUMBERS if plain else NUMBERS
        self._texts = PLAIN_TEXTS if plain else TEXTS
        self._tests = PLAIN_TESTS if plain else TESTS
        self._others = PLAIN_OTHERS if plain else OTHERS + RDF12 if rdf12 else OTHERS
        self._plain = plain

    def value(self, variables: Sequence[str], depth: int = 2, exists: Callable[[], str] | None = None) -> str:
        """Draw an expression for any value; it can stand between parentheses anywhere."""
        if exists is not None and self._chance.random() < 0.08:
            return f"{self._chance.choice(['', 'NOT '])}EXISTS {exists()}"
        kind = self._chance.choice([self._numbers, self._texts, self._tests, self._others])
        return self._filled(self._chance.choice(kind), variables, depth, exists)

    def test(self, variables: Sequence[str], depth: int = 2, exists: Callable[[], str] | None = None) -> str:
        """Draw an expression that is mostly a truth value."""
        if exists is not None and self._chance.random() < 0.15:
            return f"{self._chance.choice(['', 'NOT '])}EXISTS {exists()}"
        return self._filled(self._chance.choice(self._tests), variables, depth, exists)

    def _filled(self, template: str, variables: Sequence[str], depth: int, exists: Callable[[], str] | None) -> str:
        return _SLOT.sub(lambda slot: self._slot(slot[1], variables, depth, exists), template)

    def _slot(self, kind: str, variables: Sequence[str], depth: int, exists: Callable[[], str] | None) -> str:
        if kind == "v" or (self._chance.random() < 0.55 and not (self._plain and kind == "b")):
            variable = self._chance.choice(variables)
            return f"STR({variable})" if self._plain and kind == "s" else variable
        if depth > 0 and self._chance.random() < 0.4:
            if kind == "b":
                return f"({self.test(variables, depth - 1, exists)})"
            if kind == "e" or (self._chance.random() < 0.2 and not self._plain):
                return f"({self.value(variables, depth - 1, exists)})"
            templates = {"n": self._numbers, "s": self._texts, "t": self._others, "i": self._others}[kind]
            return f"({self._filled(self._chance.choice(templates), variables, depth - 1, exists)})"
        return self._constant(kind)

    def _constant(self, kind: str) -> str:
        if kind == "i":
            return self._chance.choice(INDIVIDUALS)
        if self._plain:
            small = {"n": ("1", "2", "350"), "s": ('"red"', '"e"'), "b": ("true", "false")}
            return self._chance.choice(small.get(kind, self._literals))
        match kind:
            case "n":
                return self._chance.choice(("1", "2", "0.5", "1.5e0", *SMALL_NUMBERS, *FLOATING))
            case "s":
                return self._chance.choice(STRINGS)
            case "t":
                return self._chance.choice(MOMENTS + DURATIONS)
            case "b":
                return self._chance.choice(("true", "false"))
            case _:
                return self._chance.choice(self._literals + INDIVIDUALS)
