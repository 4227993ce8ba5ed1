"""The tree of a rule: what was written, before names are resolved.

Positions take no part in equality, so a tree equals the one that its printed form is read as.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from ontosub.model.errors import Span

RESERVED = frozenset({"search", "register", "where", "and", "or", "not", "contains", "true", "false"})
"""The words, in any case, that are no names; write `:contains` for a property of that name."""


class Operator(StrEnum):
    """What a predicate compares with; the value is the spelling."""

    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    CONTAINS = "contains"


@dataclass(frozen=True, slots=True)
class Iri:
    """`<http://example.org/a>`"""

    value: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    """`memory` (prefix None), `:memory` (prefix "") or `ex:memory`."""

    prefix: str | None
    local: str
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.local if self.prefix is None else f"{self.prefix}:{self.local}"


@dataclass(frozen=True, slots=True)
class Text:
    """`'uni-passau.de'`; in place of an extension, the name of a rule."""

    value: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it was spelled."""

    lexical: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Truth:
    """`true` or `false`."""

    value: bool
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class VariableName:
    """A variable where it is declared, registered or used."""

    value: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path: a property, and whether the any-operator `?` follows it."""

    property: Name | Iri
    any: bool = False
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Path:
    """`c.serverInformation.memory`; without steps, the variable itself."""

    variable: VariableName
    steps: tuple[Step, ...] = ()
    span: Span | None = field(default=None, compare=False)


Constant: TypeAlias = Text | Number | Truth | Iri | Name
Operand: TypeAlias = Path | Constant


@dataclass(frozen=True, slots=True)
class Comparison:
    """`X ∘ Y`, the paper's elementary predicate."""

    left: Operand
    operator: Operator
    right: Operand
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """`not X`"""

    part: Condition


@dataclass(frozen=True, slots=True)
class And:
    """`X and Y and …`, two parts or more."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """`X or Y or …`, two parts or more."""

    parts: tuple[Condition, ...]


Condition: TypeAlias = Comparison | Not | And | Or
Extension: TypeAlias = Name | Iri | Text


@dataclass(frozen=True, slots=True)
class Declaration:
    """`PREFIX ex: <http://example.org/>`"""

    prefix: str
    iri: Iri


@dataclass(frozen=True, slots=True)
class Search:
    """`CycleProvider c`: a variable that ranges over an extension."""

    extension: Extension
    variable: VariableName
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """`search … register … where …`"""

    prefixes: tuple[Declaration, ...]
    searches: tuple[Search, ...]
    registered: VariableName
    condition: Condition | None = None
