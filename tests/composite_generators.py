"""Generated event patterns and histories: few subscriptions, values and moments, so that much of it meets."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random

from hypothesis import strategies as st

from ontosub.model.composite import (
    Aggregate,
    AggregateFunction,
    Concurrency,
    Conjunction,
    Disjunction,
    EventPattern,
    Exclusion,
    Iteration,
    Negation,
    Policy,
    Primitive,
    Restriction,
    Sequence,
)
from ontosub.model.expression import Call, Function
from ontosub.model.pattern import Filter
from ontosub.model.relation import Relation
from ontosub.model.scope import certain, possible
from ontosub.model.terms import Literal, Variable
from oracle.composite_definition import Fact

NAMES = ("a", "b", "c")
CHOICES = ((("x", "x"),), (("x", "x"),), (("x", "x"), ("v", "v")), (("x", "x"), ("v", "w")), (("v", "w"),), ())

KINDS = ("join", "join", "join", "or", "restrict", "not", "exclude", "times", "times")
COMPARED = (Function.LESS, Function.GREATER_OR_EQUAL, Function.NOT_EQUAL)


class Drawing:
    """Draws patterns evenly, which Hypothesis would not do: with its preference for the simplest, little is found."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._names = NAMES[: self._random.choice([1, 2, 2, 3])]

    def pattern(self, depth: int) -> EventPattern:
        """Return a pattern of at most so many operators above each other, and at least one."""
        return getattr(self, f"_{self._random.choice(KINDS)}")(depth)

    def _below(self, depth: int) -> EventPattern:
        if depth > 1 and self._random.random() < 0.4:
            return self.pattern(depth - 1)
        return Primitive(self._random.choice(self._names), self._random.choice(CHOICES))

    def _window(self) -> timedelta:
        return timedelta(microseconds=self._random.randint(1, 12))

    def _maybe_window(self) -> timedelta | None:
        return self._random.choice([None, self._window()])

    def _policy(self) -> Policy:
        return self._random.choice(list(Policy))

    def _where(self, bound: frozenset[str]) -> tuple[Filter, ...]:
        """Return no condition or one on bound variables, with arithmetic."""
        if not bound or self._random.random() < 0.7:
            return ()
        left, right = (Variable(self._random.choice(sorted(bound))) for _ in range(2))
        other = Call(Function.ADD, (right, Literal(self._random.randint(-1, 1))))
        return (Filter(Call(self._random.choice(COMPARED), (left, other))),)

    def _operands(self, depth: int) -> tuple[EventPattern, ...]:
        found = [self._below(depth) for _ in range(self._random.choice([2, 2, 3]))]
        return (found[0],) * len(found) if self._random.random() < 0.15 else tuple(found)

    def _join(self, depth: int) -> EventPattern:
        operands = self._operands(depth)
        rest = (self._maybe_window(), self._where(bound_by(*operands)), self._policy())
        made = self._random.choice([Conjunction, Concurrency, Concurrency, Sequence, Sequence, Sequence])
        if made is not Sequence:
            return made(operands, *rest)
        return Sequence(self._random.choice([Relation.BEFORE, self._random.choice(list(Relation))]), operands, *rest)

    def _or(self, depth: int) -> EventPattern:
        operands = self._operands(depth)
        return Disjunction(operands, self._maybe_window(), self._where(bound_by(*operands)), self._policy())

    def _restrict(self, depth: int) -> EventPattern:
        operand = self._below(depth)
        return Restriction(operand, self._window(), self._where(possible(operand)))

    def _exclude(self, depth: int) -> EventPattern:
        operand, other = self._below(depth), self._below(depth)
        return Exclusion(operand, other, self._window(), self._where(bound_by(operand, other)))

    def _per(self, operand: EventPattern) -> tuple[str, ...]:
        return tuple(name for name in sorted(certain(operand)) if self._random.random() < 0.5)

    def _not(self, depth: int) -> EventPattern:
        operand = self._below(depth)
        return Negation(operand, self._window(), self._per(operand), self._where(possible(operand)))

    def _times(self, depth: int) -> EventPattern:
        operand = self._below(depth)
        per, numbers = self._per(operand), sorted(possible(operand) & {"v", "w"})
        aggregates = [Aggregate(AggregateFunction.COUNT, None, "n")] if self._random.random() < 0.5 else []
        if numbers and self._random.random() < 0.5:
            function = self._random.choice(list(AggregateFunction)[1:])
            aggregates.append(Aggregate(function, self._random.choice(numbers), "m"))
        kept = tuple(each for each in aggregates if each.name not in possible(operand))
        count = self._random.choice([None, 1, 2, 2, 3])
        window = self._window() if count is None else self._maybe_window()
        where = self._where(frozenset(per) | {aggregate.name for aggregate in kept})
        return Iteration(operand, count, window, per, kept, where, self._policy())


def bound_by(*operands: EventPattern) -> frozenset[str]:
    return frozenset().union(*map(possible, operands))


def patterns(depth: int = 2) -> st.SearchStrategy[EventPattern]:
    """Draw a pattern."""
    return st.builds(lambda depth, seed: Drawing(seed).pattern(depth), st.integers(1, depth), st.integers(0, 2**32))


def history(size: int, seed: int) -> list[Fact]:
    """Return matches that are drawn evenly, which Hypothesis would not do.

    Some are instants, some have lifetimes, some answers lack a variable, and some events match several subscriptions.
    """
    random = Random(seed)
    names, span = NAMES[: random.choice([1, 2, 2, 3])], random.choice([6, 12, 24])
    lasting, living = random.choice([[0], [0, 0, 1, 2, 5]]), random.choice([[None], [None, None, None, 0, 2, 6]])
    bound, matching = random.choice([1.0, 1.0, 0.8]), random.choice([0.0, 0.0, 0.5])
    found = []
    for number in range(size):
        start = random.randrange(1, span)
        answers = [(random.randint(1, 2), random.randint(0, 2)) for _ in range(random.choice([1, 1, 1, 1, 2, 3]))]
        rows = tuple(
            tuple((name, str(Literal(value))) for name, value in (("v", v), ("x", x)) if random.random() < bound)
            for x, v in answers
        )
        end, lifetime = start + random.choice(lasting), random.choice(living)
        first = random.choice(names)
        others = [other for other in names if other != first and random.random() < matching]
        found += [Fact(name, f"e{number}", start, end, rows, lifetime) for name in (first, *others)]
    return found


def facts(most: int = 12) -> st.SearchStrategy[list[Fact]]:
    """Draw a history; a shorter one is the beginning of a longer."""
    return st.builds(history, st.integers(1, most), st.integers(0, 2**32))


def with_policy(pattern: EventPattern, policy: Policy) -> EventPattern:
    """Return the pattern with one policy throughout."""
    match pattern:
        case Primitive():
            return pattern
        case Conjunction() | Concurrency() | Sequence() | Disjunction():
            operands = tuple(with_policy(operand, policy) for operand in pattern.operands)
            return replace(pattern, operands=operands, policy=policy)
        case Exclusion():
            excluded = with_policy(pattern.excluded, policy)
            return replace(pattern, operand=with_policy(pattern.operand, policy), excluded=excluded)
        case Iteration():
            return replace(pattern, operand=with_policy(pattern.operand, policy), policy=policy)
    return replace(pattern, operand=with_policy(pattern.operand, policy))
