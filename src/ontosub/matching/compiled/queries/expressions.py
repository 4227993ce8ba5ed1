"""Expressions over rows. What an expression gives for some values is remembered while a scope is evaluated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import itemgetter
from typing import Any, TypeAlias

from ontosub.matching.compiled.queries.rows import Row, Run, Scope
from ontosub.matching.compiled.queries.terms import UNBOUND
from ontosub.model.algebra import parts_of
from ontosub.model.expression import FRESH, Call, Exists, Expression
from ontosub.model.terms import PatternTerm, Term, Variable
from ontosub.semantics.context import Assignment, Context
from ontosub.semantics.expressions import evaluate, holds
from ontosub.semantics.faults import ExpressionError

Finder: TypeAlias = Callable[[Run, Row], bool]
"""Says whether the pattern of an EXISTS has a solution for a row of the scope around it."""

_REMEMBERED_BYTES = 200
"""About what it takes to remember a value."""


class Evaluated:
    """An expression over the rows of a scope, which may bind some terms; `computed` are those computed for the row."""

    def __init__(
        self,
        expression: Expression,
        scope: Scope,
        terms: frozenset[PatternTerm],
        finder: Callable[[Exists, frozenset[PatternTerm]], Finder],
        computed: frozenset[Variable] = frozenset(),
    ) -> None:
        self._expression = expression
        parts = list(parts_of(expression))
        around = terms | scope.seen.keys()
        self._finders = {id(each): finder(each, around) for each in _patterns_in(expression)}
        is_fresh = any(isinstance(part, Call) and part.function in FRESH for part in parts)
        variables = around if is_fresh else {part for part in parts if isinstance(part, Variable)} & around
        self._variables = [each for each in variables if isinstance(each, Variable)]
        ends = scope.ends(self._variables)
        self._getters = [end.getter() for end in ends]
        self._key: Callable[[Row], Any] = itemgetter(*(end.place for end in ends)) if ends else _no_key
        if any(end.place != end.seen for end in ends):
            self._key = self._seen_key
        self._computed = computed if is_fresh else frozenset()

    def _seen_key(self, row: Row) -> tuple[int, ...]:
        return tuple([value_in(row) for value_in in self._getters])

    def holds(self, run: Run, row: Row) -> bool:
        """Say whether the expression is true of a row."""
        remembered = run.kept.get(self)
        if remembered is None:
            remembered = run.kept[self] = {}
        key = self._key(row)
        found = remembered.get(key)
        if found is None:
            found = remembered[key] = holds(self._expression, *self._arguments(run, row))
        return found is True

    def term(self, run: Run, row: Row) -> Term | None:
        """Return the value of the expression for a row; None when it has none."""
        number = self.number(run, row)
        return None if number == UNBOUND else run.terms.term(number)

    def number(self, run: Run, row: Row) -> int:
        """Return the number of the value for a row; UNBOUND when it has none."""
        if isinstance(self._expression, Variable):
            return self._getters[0](row) if self._getters else UNBOUND
        remembered = run.kept.get(self)
        if remembered is None:
            remembered = run.kept[self] = {}
        key = self._key(row)
        found: int | None = remembered.get(key)
        if found is None:
            found = remembered[key] = self._evaluate(run, row)
        return found

    def _evaluate(self, run: Run, row: Row) -> int:
        binding, context = self._arguments(run, row)
        given = {v: term for v, term in binding.items() if v not in self._computed} if self._computed else binding
        try:
            return run.terms.number_of(evaluate(self._expression, binding, context, solution=given))
        except ExpressionError:
            return UNBOUND

    def _arguments(self, run: Run, row: Row) -> tuple[dict[Variable, Term], Context]:
        run.context.budget.hold(_REMEMBERED_BYTES)
        binding = {}
        for variable, value_in in zip(self._variables, self._getters, strict=True):
            value = value_in(row)
            if value != UNBOUND:
                binding[variable] = run.terms.term(value)
        if not self._finders:
            return binding, run.context

        def exists(asked: Exists, _: Assignment) -> bool:
            return self._finders[id(asked)](run, row)

        return binding, replace(run.context, exists=exists)


def _no_key(row: Row) -> tuple[()]:
    return ()


def _patterns_in(expression: Expression) -> list[Exists]:
    """Return the EXISTS of an expression, without those inside their patterns."""
    if isinstance(expression, Exists):
        return [expression]
    if isinstance(expression, Call):
        return [found for argument in expression.arguments for found in _patterns_in(argument)]
    return []
