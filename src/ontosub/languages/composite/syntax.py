"""The tree of a composite subscription's text: as it was written, names not yet looked up, nothing yet refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeAlias

from ontosub.model.composite import Aggregate, Policy
from ontosub.model.errors import Span
from ontosub.model.pattern import Filter

RESTRICT, AND, OR, PARALLEL, NOT, AND_NOT, TIMES = "restrict", "and", "or", "parallel", "not", "and not", "times"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A variable of a named operand's answers, and what it is called here."""

    variable: str
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Named:
    """An operand by its name; `chosen` are the variables that take part, None means all."""

    name: str
    span: Span
    chosen: tuple[Chosen, ...] | None = None


@dataclass(frozen=True, slots=True)
class Inline:
    """An operand that is written in another language; `start` is the offset of its text."""

    language: str
    text: str
    start: int
    span: Span
    chosen: tuple[Chosen, ...] | None = None


@dataclass(slots=True)
class Applied:
    """An operator and what belongs to it; suffixes are added while they are read.

    `operator` is one of the words above, or a relation as it is written.
    """

    operator: str
    operands: list[Syntax]
    span: Span
    count: int | None = None
    window: timedelta | None = None
    where: list[Filter] = field(default_factory=list)
    per: list[tuple[str, Span]] = field(default_factory=list)
    only: bool = False
    """Whether the operator is taken per what is said and nothing else."""
    aggregates: list[tuple[Aggregate, Span]] = field(default_factory=list)
    policy: Policy | None = None
    brackets: int = 0
    closed: bool = False
    """Whether no further operand can join: something was said of the operator, or its bracket has ended."""


Syntax: TypeAlias = Named | Inline | Applied
