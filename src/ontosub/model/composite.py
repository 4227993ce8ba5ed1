"""Composite subscriptions: patterns over several events.

An event pattern is a tree (JTangCSPS's composite subscription tree): leaves are primitive subscriptions, inner nodes
are operators. This module is only their shape; docs/COMPOSITE.md defines what they mean. Each operator carries what
belongs to it: the `window` of its temporal restriction, the conditions (`where`) on what its operands bind, and, where
it chooses among instances, its consumption policy. Variables are named without their question mark, as in a Binding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TypeAlias

from ontosub.model import readers
from ontosub.model.errors import UsageError
from ontosub.model.pattern import Filter
from ontosub.model.relation import Relation
from ontosub.model.subscription import Subscription

WINDOW_MAX = timedelta(days=36_525)
"""The longest window: a hundred years."""
COUNT_MAX = 10_000
"""How often an iteration may ask for its operand, and how many members an open one has at most."""
OPERANDS_MAX = 20
NODES_MAX = 100
"""How many operands and operators a pattern may have, those of the composites that it names included."""
DEPTH_MAX = 30


class Policy(StrEnum):
    """What becomes of the constituents of a detection: they are used up (the paper's way), or may serve again."""

    CONSUME = "consume"
    REUSE = "reuse"


class AggregateFunction(StrEnum):
    """What an aggregate computes over the members of an iteration."""

    COUNT = "count"
    MIN = "min"
    MAX = "max"
    AVG = "avg"
    SUM = "sum"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A value computed over the members of an iteration, and the variable that it is bound to."""

    function: AggregateFunction
    variable: str | None
    name: str

    def __post_init__(self) -> None:
        if (self.variable is None) is not (self.function is AggregateFunction.COUNT):
            raise UsageError("count takes no variable, and every other aggregate takes one")


@dataclass(frozen=True, slots=True)
class Primitive:
    """The matches of a subscription. `variables` are pairs: a variable of its answers, and what it is called here."""

    subscription_id: str
    variables: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", tuple(sorted(self.variables)))
        if len({here for _, here in self.variables}) != len(self.variables):
            raise UsageError(f"two variables of {self.subscription_id!r} would have the same name")


@dataclass(frozen=True, slots=True)
class Restriction:
    """Those instances of the operand that last no longer than the window, and for which the conditions hold."""

    operand: EventPattern
    window: timedelta | None = None
    where: tuple[Filter, ...] = ()

    def __post_init__(self) -> None:
        _check(self)
        if self.window is None and not self.where:
            raise UsageError("a restriction needs a window or a condition")


@dataclass(frozen=True, slots=True)
class Conjunction:
    """One instance of each operand, in any order (`and`)."""

    operands: tuple[EventPattern, ...]
    window: timedelta | None = None
    where: tuple[Filter, ...] = ()
    policy: Policy = Policy.CONSUME

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True)
class Concurrency:
    """One instance of each operand, all over the same interval (`parallel`)."""

    operands: tuple[EventPattern, ...]
    window: timedelta | None = None
    where: tuple[Filter, ...] = ()
    policy: Policy = Policy.CONSUME

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True)
class Sequence:
    """One instance of each operand, each in the relation to the next (`before`, `meets`, …)."""

    relation: Relation
    operands: tuple[EventPattern, ...]
    window: timedelta | None = None
    where: tuple[Filter, ...] = ()
    policy: Policy = Policy.CONSUME

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True)
class Disjunction:
    """An instance of any operand (`or`); with a window, of two together when both fall into it."""

    operands: tuple[EventPattern, ...]
    window: timedelta | None = None
    where: tuple[Filter, ...] = ()
    policy: Policy = Policy.CONSUME

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True)
class Negation:
    """A window in which no instance of the operand ends (`not A within T`), for each value of `per`."""

    operand: EventPattern
    window: timedelta
    per: tuple[str, ...] = ()
    where: tuple[Filter, ...] = ()

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True)
class Exclusion:
    """An instance of the operand after whose end no instance of `excluded` ends in the window (`A and not B`)."""

    operand: EventPattern
    excluded: EventPattern
    window: timedelta
    where: tuple[Filter, ...] = ()

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True)
class Iteration:
    """Several instances of the operand in a row, for each value of `per` (`times`).

    `count` is how many; None means as many as come, each within the window of the one before.
    """

    operand: EventPattern
    count: int | None
    window: timedelta | None = None
    per: tuple[str, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    where: tuple[Filter, ...] = ()
    policy: Policy = Policy.CONSUME

    def __post_init__(self) -> None:
        _check(self)
        if self.count is None and self.window is None:
            raise UsageError("an open iteration (times *) needs a window: without one it would never end")
        if self.count is not None and not 1 <= self.count <= COUNT_MAX:
            raise UsageError(f"an iteration asks for 1 to {COUNT_MAX:,} instances, not for {self.count:,}")


Join: TypeAlias = Conjunction | Concurrency | Sequence
Operator: TypeAlias = Join | Disjunction | Negation | Exclusion | Iteration | Restriction
EventPattern: TypeAlias = Primitive | Operator


def operands_of(pattern: EventPattern) -> tuple[EventPattern, ...]:
    """Return what the operator at the root of a pattern is applied to."""
    match pattern:
        case Primitive():
            return ()
        case Exclusion():
            return (pattern.operand, pattern.excluded)
        case Restriction() | Negation() | Iteration():
            return (pattern.operand,)
    return pattern.operands


def walk(pattern: EventPattern) -> Iterator[EventPattern]:
    """Yield the pattern and all patterns inside it, outermost first."""
    yield pattern
    for operand in operands_of(pattern):
        yield from walk(operand)


def _check(pattern: Operator) -> None:
    """Refuse a window that makes no sense, and a wrong number of operands; `per` and names are put in order."""
    if pattern.window is not None and not timedelta(0) < pattern.window <= WINDOW_MAX:
        raise UsageError(f"a window is longer than nothing and at most {WINDOW_MAX.days:,} days: not {pattern.window}")
    if isinstance(pattern, Negation | Iteration):
        object.__setattr__(pattern, "per", tuple(sorted(set(pattern.per))))
    elif not isinstance(pattern, Restriction | Exclusion) and not 2 <= len(pattern.operands) <= OPERANDS_MAX:
        raise UsageError(f"an operator takes 2 to {OPERANDS_MAX} operands, not {len(pattern.operands)}")


@dataclass(frozen=True, slots=True)
class Composite:
    """A composite subscription: an event pattern with an id.

    `subscriptions` are those that were written inside its text; a matcher must know them, as it must know those that
    the pattern names.
    """

    id: str
    pattern: EventPattern
    subscriptions: tuple[Subscription, ...] = ()
    text: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not self.id:
            raise UsageError("a composite subscription needs an id that is not empty")

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        id: str,
        names: Mapping[str, Subscription | Composite] | None = None,
        prefixes: Mapping[str, str] | None = None,
        policy: Policy | str = Policy.CONSUME,
    ) -> Composite:
        """Read a composite subscription: `smoke before heat within 10 min`.

        `names` are the subscriptions and composites that it may name. `policy` holds for operators that say no other.

        Raises LanguageError, with position and hint, when the text is malformed or says what no composite may say.
        """
        read = readers.get("composite.parse")
        return read(text, id=id, names=names, prefixes=prefixes, policy=Policy(policy))  # type: ignore[no-any-return]

    @property
    def subscription_ids(self) -> frozenset[str]:
        """The primitive subscriptions whose matches it is made of."""
        return frozenset(part.subscription_id for part in walk(self.pattern) if isinstance(part, Primitive))
