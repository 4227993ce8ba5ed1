"""Expressions over rows. What an expression gives for some values is remembered while a scope is evaluated."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import repeat
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from ontosub.matching.compiled.queries.lifting import is_slot, slot_of
from ontosub.matching.compiled.queries.rows import Array, End, Kind, Rows, Run, Scope
from ontosub.matching.compiled.queries.terms import UNBOUND
from ontosub.model.expression import FRESH, Call, Exists, Expression, Function, variables_of, walk
from ontosub.model.terms import PatternTerm, Term, Variable
from ontosub.semantics.context import Assignment, Context
from ontosub.semantics.expressions import evaluate, holds
from ontosub.semantics.faults import ExpressionError

Test: TypeAlias = Callable[[Run, Rows], Array]
"""Says of which rows something is true."""

_VALUE_BYTES = 200
"""About what it takes to remember a value while a scope is evaluated."""

_REMEMBERED_MAX, _REMEMBERED_STEPS, _REMEMBERED_BYTES = 50_000, 20, 2_000
"""How many values are remembered from event to event, and how many steps and bytes one of them may have taken: texts
that are long took more."""

_remembered: dict[tuple[Any, ...], tuple[Any, int, int]] = {}

_COMPARISONS: Mapping[Function, Callable[[Any, Any], bool]] = MappingProxyType(
    {
        Function.EQUAL: operator.eq,
        Function.NOT_EQUAL: operator.ne,
        Function.LESS: operator.lt,
        Function.LESS_OR_EQUAL: operator.le,
        Function.GREATER: operator.gt,
        Function.GREATER_OR_EQUAL: operator.ge,
    }
)


class Evaluated:
    """An expression over the rows of a scope, which may bind some terms; `computed` are those computed for the row."""

    def __init__(
        self,
        expression: Expression,
        scope: Scope,
        terms: frozenset[PatternTerm],
        finder: Callable[[Exists, frozenset[PatternTerm]], Test],
        computed: frozenset[Variable] = frozenset(),
    ) -> None:
        self._expression = expression
        around = terms | scope.seen.keys()
        parts = list(walk(expression))
        patterns = {id(part): part for part in parts if isinstance(part, Exists)}
        self._order = {asked: number for number, asked in enumerate(patterns)}
        self._finders = [finder(each, around) for each in patterns.values()]
        is_fresh = any(isinstance(part, Call) and part.function in FRESH for part in parts)
        is_timed = any(isinstance(part, Call) and part.function is Function.NOW for part in parts)
        self._is_pure = not (is_fresh or is_timed or self._finders)
        mentioned = variables_of(expression)
        self._slots = frozenset(filter(is_slot, mentioned))
        seen = around if is_fresh else (mentioned - self._slots) & around
        self._variables = [*self._slots, *(each for each in seen if isinstance(each, Variable))]
        self._ends = [_end(scope, variable) for variable in self._variables]
        self._computed = computed if is_fresh else frozenset()
        self._compare = _comparison(expression, self._variables)

    def holds(self, run: Run, rows: Rows) -> Array:
        """Say of which rows the expression is true."""
        remembered = run.kept.setdefault(self, {})
        if self._compare is not None:
            return np.array(self._compared(run, rows, remembered), np.bool_)
        found = []
        for key in self._keys(run, rows):
            is_true = remembered.get(key)
            if is_true is None:
                is_true = remembered[key] = self._holds(run, key)
            found.append(is_true)
        return np.array(found, np.bool_)

    def _compared(self, run: Run, rows: Rows, remembered: dict[Any, bool]) -> list[bool]:
        """Return whether two values compare: whole numbers are compared at once."""
        assert self._compare is not None  # noqa: S101 - who calls has seen to it
        compare, one, other = self._compare
        run.spend(len(rows))
        integers = run.terms.integers
        found = []
        for key in self._keys(run, rows):
            first, second = integers[key[one]], integers[key[other]]
            if first is not None and second is not None:
                found.append(compare(first, second))
                continue
            is_true = remembered.get(key)
            if is_true is None:
                is_true = remembered[key] = self._holds(run, key)
            found.append(is_true)
        return found

    def numbers(self, run: Run, rows: Rows) -> Array:
        """Return the number of the value for each row; UNBOUND where it has none."""
        if isinstance(self._expression, Variable):
            return run.column(rows, self._ends[0]) if self._ends else np.full(len(rows), UNBOUND, np.int32)
        remembered = run.kept.setdefault(self, {})
        found = []
        for event, key in zip(run.events(rows), self._keys(run, rows), strict=True):
            number = remembered.get((event, key))
            if number is None:
                number = remembered[event, key] = self._number(run, event, key)
            found.append(number)
        return np.array(found, np.int32)

    def _keys(self, run: Run, rows: Rows) -> Iterator[tuple[int, ...]]:
        """Yield what the value for each row depends on: its variables, and whether patterns are found."""
        columns = [run.column(rows, end).tolist() for end in self._ends]
        columns += [find(run, rows).tolist() for find in self._finders]
        return zip(*columns, strict=True) if columns else repeat((), len(rows))

    def _holds(self, run: Run, key: tuple[int, ...]) -> bool:
        return self._known(run, key, holds) is True

    def _number(self, run: Run, event: int, key: tuple[int, ...]) -> int:
        term = self._known(run, key, _value)
        return UNBOUND if term is None else run.terms.number_of(event, term)

    def _known(self, run: Run, key: tuple[int, ...], ask: Callable[..., Any]) -> Any:
        """Return what is asked of the expression. It costs the same when it is remembered from another event."""
        binding, given, context = self._arguments(run, key)
        if not self._is_pure:
            return ask(self._expression, binding, context, solution=given)
        asked = self, ask, *map(binding.get, self._variables)
        budget = run.context.budget
        if asked in _remembered:
            found, steps, size = _remembered[asked]
            budget.spend(steps)
            budget.hold(size)
            return found
        steps, size = budget.steps, budget.bytes
        found = ask(self._expression, binding, context, solution=given)
        steps, size = steps - budget.steps, size - budget.bytes
        if steps <= _REMEMBERED_STEPS and size <= _REMEMBERED_BYTES:
            if len(_remembered) >= _REMEMBERED_MAX:
                _remembered.clear()
            _remembered[asked] = found, steps, size
        return found

    def _arguments(self, run: Run, key: tuple[int, ...]) -> tuple[dict[Variable, Term], Assignment, Context]:
        run.context.budget.hold(_VALUE_BYTES)
        term = run.terms.term
        # The key may be longer: what patterns are found follows the variables.
        pairs = zip(self._variables, key, strict=False)
        binding = {variable: term(value) for variable, value in pairs if value != UNBOUND}
        given = binding
        if self._computed or self._slots:
            given = {v: each for v, each in binding.items() if v not in self._computed and v not in self._slots}
        if not self._finders:
            return binding, given, run.context
        found = key[len(self._variables) :]

        def exists(asked: Exists, _: Assignment) -> bool:
            return bool(found[self._order[id(asked)]])

        return binding, given, replace(run.context, exists=exists)


def _value(expression: Expression, binding: Assignment, context: Context, solution: Assignment) -> Term | None:
    """Return the value of an expression; None if it has none."""
    try:
        return evaluate(expression, binding, context, solution=solution)
    except ExpressionError:
        return None


def _end(scope: Scope, variable: Variable) -> End:
    if is_slot(variable):
        place = scope.constants.place(Kind.TERM, slot_of(variable))
        return End(place, place)
    return scope.end(variable)


def _comparison(
    expression: Expression, variables: list[Variable]
) -> tuple[Callable[[Any, Any], bool], int, int] | None:
    """Return how an expression compares two variables, and which ones, if it does that."""
    match expression:
        case Call(function, (Variable() as one, Variable() as other)) if function in _COMPARISONS:
            if one in variables and other in variables:
                return _COMPARISONS[function], variables.index(one), variables.index(other)
    return None
