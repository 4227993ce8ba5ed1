"""Operators that combine, restrict and compute solutions; `ontosub.matching.solutions` is the definition.

A node becomes an operator over tables of rows. Plain patterns continue any rows. Everything else starts from the unit
rows of its scope, as bottom-up evaluation demands, and is then joined with what it stands beside. An operator that has
to know which rows came of which marks the rows before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TypeAlias

import numpy as np

from ontosub.matching.compiled.queries import joins
from ontosub.matching.compiled.queries.continuation import certain_in, continues
from ontosub.matching.compiled.queries.expressions import Evaluated, Test
from ontosub.matching.compiled.queries.patterns import Operator, basic, chain, path, unfolding
from ontosub.matching.compiled.queries.rows import OWNER, Array, Kind, Rows, Run, Scope, unified
from ontosub.matching.compiled.queries.terms import UNBOUND
from ontosub.model.algebra import (
    Aggregation,
    Basic,
    Extend,
    Filter,
    Grouping,
    Join,
    LeftJoin,
    Minus,
    Named,
    Node,
    PathPattern,
    Selection,
    Unfolding,
    Union,
    Values,
    extended_in,
    parts_of,
    variables_in,
)
from ontosub.model.expression import Call, Exists, Expression, Function
from ontosub.model.pattern import Filter as Condition
from ontosub.model.terms import PatternTerm, Term, Variable
from ontosub.semantics.aggregates import aggregate
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.ordering import sort_key, value_key

Row: TypeAlias = list[int]


class Operators:
    """Makes the operators of one scope."""

    def __init__(self, scope: Scope, core: Basic | None = None, around: frozenset[PatternTerm] = frozenset()) -> None:
        """Make operators; `around` are the terms around the pattern of an EXISTS whose rows are those around it.

        The rows of the `core` are found before.
        """
        self._scope = scope
        self._core = core
        self._around = around

    def of(self, node: Node, bound: frozenset[PatternTerm] = frozenset()) -> Operator:
        """Return the operator of a node; `bound` are the terms that rows probably bind before it."""
        match node:
            case Basic() if node is self._core:
                return _core
            case Basic(pattern):
                return basic(pattern, self._scope, bound | self._scope.seen.keys())
            case PathPattern():
                return path(node, self._scope)
            case Unfolding():
                return unfolding(node, self._scope)
            case Join(left, right):
                return chain([self.of(left, bound), self._matching(left, right, bound)])
            case LeftJoin():
                return self._left_join(node, bound)
            case Union(branches):
                return _union([self.of(branch, bound) for branch in branches])
            case Minus(left, right):
                return self._minus(left, right)
            case Filter(pattern, conditions):
                return self._filter(pattern, conditions, bound)
            case Extend():
                return self._extend(node, bound)
            case Values():
                return self._values(node)
            case Named():
                return self._named(node)
            case Grouping():
                return self._grouping(node)
            case Selection():
                return self._subselect(node)

    def _matching(self, left: Node, right: Node, bound: frozenset[PatternTerm] = frozenset()) -> Operator:
        """Return the operator that merges each row of the left side with those of the right side that agree."""
        outer = bound | variables_in(left)
        if continues(right, outer):
            return self.of(right, outer)
        rows_of, shared = self.of(right), self._scope.places(variables_in(left) & variables_in(right))
        own = self._scope.places(variables_in(right))
        key = object()

        def merge(run: Run, rows: Rows) -> Rows:
            held, found = _held(run, key, rows_of, shared), []
            for row in rows.tolist():
                for other in held.agreeing(run, row):
                    merged = row[:]
                    for place in own:
                        if other[place] != UNBOUND:
                            merged[place] = other[place]
                    run.hold(merged)
                    found.append(merged)
            return run.table(found)

        return merge

    def _left_join(self, node: LeftJoin, bound: frozenset[PatternTerm]) -> Operator:
        first, other = self.of(node.left, bound), self._matching(node.left, node.right, bound)
        hold = self._all(node.conditions, variables_in(node.left) | variables_in(node.right))
        mark = self._scope.mark()

        def left_join(run: Run, rows: Rows) -> Rows:
            rows = _marked(first(run, rows), mark)
            found = hold(run, other(run, rows))
            is_alone = joins.unmarked(rows, found, mark)
            run.spend(len(rows))
            return np.concatenate((found, rows[is_alone]))

        return left_join

    def _minus(self, left: Node, right: Node) -> Operator:
        first, outer = self.of(left), variables_in(left)
        common = outer & variables_in(right)
        if not common:
            # Solutions that share no variable take nothing away from each other.
            return first
        if common <= certain_in(left) & certain_in(right) and continues(right, outer):
            other, mark = self.of(right, outer), self._scope.mark()

            def without(run: Run, rows: Rows) -> Rows:
                rows = _marked(first(run, rows), mark)
                is_alone: Array = joins.unmarked(rows, other(run, rows), mark)
                return rows[is_alone]

            return without
        rows_of, shared = self.of(right), self._scope.places(common)
        key = object()

        def minus(run: Run, rows: Rows) -> Rows:
            rows = first(run, rows)
            held, is_left = _held(run, key, rows_of, shared), []
            for row in rows.tolist():
                others = held.agreeing(run, row)
                is_left.append(not any(any(row[p] == other[p] != UNBOUND for p in shared) for other in others))
            return rows[np.array(is_left, np.bool_)]

        return minus

    def _filter(self, pattern: Node, conditions: tuple[Condition, ...], bound: frozenset[PatternTerm]) -> Operator:
        return chain([self.of(pattern, bound), self._all(conditions, variables_in(pattern))])

    def _all(self, conditions: tuple[Condition, ...], terms: frozenset[PatternTerm]) -> Operator:
        """Return the operator that keeps the rows of which all conditions hold; they may bind these terms."""
        return chain([_kept(self._test(each.expression, terms)) for each in conditions])

    def _test(self, expression: Expression, terms: frozenset[PatternTerm]) -> Test:
        around = terms | self._around | self._scope.seen.keys()
        match expression:
            case Exists():
                return self._finder(expression, around)
            case Call(Function.NOT, (Exists() as asked,)):
                exists = self._finder(asked, around)
                return lambda run, rows: ~exists(run, rows)
        return self.evaluated(expression, terms).holds

    def evaluated(
        self, expression: Expression, terms: frozenset[PatternTerm], computed: frozenset[Variable] = frozenset()
    ) -> Evaluated:
        """Return an expression over rows that may bind some terms, the `computed` ones since they were found."""
        return Evaluated(expression, self._scope, terms | self._around, self._finder, computed)

    def _finder(self, asked: Exists, around: frozenset[PatternTerm]) -> Test:
        """Return the test whether the pattern of an EXISTS has a solution that agrees with a row."""
        if continues(asked.pattern, around):
            continued = Operators(self._scope, around=around).of(asked.pattern, around)
            mark = self._scope.mark()

            def exist(run: Run, rows: Rows) -> Array:
                rows = _marked(rows, mark)
                is_alone: Array = joins.unmarked(rows, continued(run, rows), mark)
                run.spend(len(rows))
                return ~is_alone

            return exist
        mentioned = {part for part in parts_of(asked.pattern) if isinstance(part, Variable)}
        sees = sorted(mentioned & around, key=str)
        ends = self._scope.ends(sees)
        inner = Scope(self._scope.constants, sees)
        rows_of = Operators(inner).of(asked.pattern)

        def exist_inside(run: Run, rows: Rows) -> Array:
            # Rows that look the same from inside have the same answer.
            seen = [rows[:, OWNER], *(run.column(rows, end) for end in ends)]
            keys = list(zip(*(column.tolist() for column in seen), strict=True))
            number = {key: place for place, key in enumerate(dict.fromkeys(keys))}
            run.spend(len(rows))
            owners, *values = np.array([*number], np.int32).reshape(len(number), len(seen)).T
            inside = run.inside(inner, owners, values)
            is_found = np.zeros(len(number), np.bool_)
            is_found[rows_of(inside, inside.units)[:, OWNER]] = True
            return is_found[[number[key] for key in keys]]

        return exist_inside

    def _extend(self, node: Extend, bound: frozenset[PatternTerm]) -> Operator:
        rows_of = self.of(node.pattern, bound)
        value = self.evaluated(node.expression, variables_in(node.pattern), extended_in(node.pattern))
        end = self._scope.end(node.variable)

        def extend(run: Run, rows: Rows) -> Rows:
            rows = rows_of(run, rows)
            numbers = value.numbers(run, rows)
            return unified(run, run.made(rows.copy(), len(rows)), ((end, numbers),))

        return extend

    def _values(self, node: Values) -> Operator:
        ends = self._scope.ends(node.variables)
        nothing = self._scope.constants.place(Kind.NOTHING, None)
        choices = [[nothing if term is None else self._scope.place(term) for term in row] for row in node.rows]
        places = ~np.array(choices, np.int64).reshape(len(node.rows), len(ends)).T
        count = len(node.rows)

        def values(run: Run, rows: Rows) -> Rows:
            run.made(rows[:0], len(rows) * count)
            owners = rows[:, OWNER, None]
            given = [run.constants[owners, each] for each in places]
            fits = np.ones((len(rows), count), np.bool_)
            for end, told in zip(ends, given, strict=True):
                for place in {end.place, end.seen}:
                    own = rows[:, place, None]
                    fits &= (told == UNBOUND) | (own == UNBOUND) | (own == told)
            origin, choice = fits.nonzero()
            found = run.made(rows[origin], len(origin))
            for end, told in zip(ends, given, strict=True):
                chosen = told[origin, choice]
                found[:, end.place] = np.where(chosen == UNBOUND, found[:, end.place], chosen)
            return found

        return values

    def _named(self, node: Named) -> Operator:
        rows_of = self.of(node.pattern)
        name = self._scope.end(node.name)

        def named(run: Run, rows: Rows) -> Rows:
            found = [rows[:0]]
            for number, arcs in run.facts.named.items():
                asked = run.column(rows, name)
                inside = rows[(asked == UNBOUND) | (asked == number)]
                run.spend(1 + len(inside))
                if len(inside):
                    each = rows_of(run.on(arcs), inside)
                    found.append(unified(run, each.copy(), ((name, np.full(len(each), number, np.int32)),)))
            return np.concatenate(found)

        return named

    def _grouping(self, node: Grouping) -> Operator:
        terms = variables_in(node.pattern)
        rows_of = self.of(node.pattern)
        keys = [(self._scope.place(variable), self.evaluated(each, terms)) for variable, each in node.keys]
        aggregates = [(self._scope.place(each.variable), self._aggregate(each, terms)) for each in node.aggregations]

        def group(run: Run, rows: Rows) -> Rows:
            rows = rows_of(run, rows)
            columns = [rows[:, OWNER].tolist(), *(value.numbers(run, rows).tolist() for _, value in keys)]
            members: dict[tuple[int, ...], list[int]] = {}
            if not keys:
                members = {(owner,): [] for owner in run.units[:, OWNER].tolist()}
            run.spend(len(rows))
            run.context.budget.hold(_MEMBER_BYTES * len(rows))
            for row, key in enumerate(zip(*columns, strict=True)):
                found = members.get(key)
                if found is None:
                    run.hold(key)
                    members[key] = [row]
                else:
                    found.append(row)
            groups = run.made(np.full((len(members), self._scope.size), UNBOUND, np.int32), len(members))
            groups[:, [OWNER, *(place for place, _ in keys)]] = np.array([*members], np.int32).reshape(
                len(members), len(columns)
            )
            for place in self._scope.seen.values():
                groups[:, place] = run.units[groups[:, OWNER], place]
            for place, values_of in aggregates:
                groups[:, place] = values_of(run, rows, list(members.values()), run.events(groups))
            return groups

        return group

    def _aggregate(self, each: Aggregation, terms: frozenset[PatternTerm]) -> Callable[..., list[int]]:
        """Return how to get at the number of an aggregate for each of some groups of rows."""
        if each.argument is None:
            places = self._scope.places(term for term in terms if isinstance(term, Variable))

            def counts(run: Run, rows: Rows, groups: list[list[int]], events: list[int]) -> list[int]:
                number_of = run.terms.number_of_integer
                if not each.distinct:
                    return list(map(number_of, events, map(len, groups)))
                listed = rows[:, places].tolist()
                run.context.budget.hold(rows.size * _MEMBER_BYTES)
                counted = [len({tuple(listed[row]) for row in group}) for group in groups]
                return list(map(number_of, events, counted))

            return counts
        value = self.evaluated(each.argument, terms)

        def aggregated(run: Run, rows: Rows, groups: list[list[int]], events: list[int]) -> list[int]:
            numbers: list[int] = value.numbers(run, rows).tolist()
            run.spend(len(rows))
            pairs = zip(events, groups, strict=True)
            return [_aggregated(run, event, each, [numbers[row] for row in group]) for event, group in pairs]

        return aggregated

    def _subselect(self, node: Selection) -> Operator:
        sees = [variable for variable in node.projection if variable in self._scope.seen]
        inner = Scope(self._scope.constants, sees)
        selected = selection(node, inner)
        seen, ends = self._scope.ends(sees), self._scope.ends(node.projection)

        def subselect(run: Run, rows: Rows) -> Rows:
            inside = run.inside(inner, rows[:, OWNER], [run.column(rows, end) for end in seen])
            origin, *columns = selected(inside).T
            found = run.made(rows[origin], len(origin))
            return unified(run, found, zip(ends, columns, strict=True))

        return subselect


_MEMBER_BYTES = 40
"""About what it takes to note that a row belongs to a group."""


def _core(run: Run, rows: Rows) -> Rows:
    """Return what the index found: the evaluation started from that."""
    return rows


def _marked(rows: Rows, mark: int) -> Rows:
    """Return the rows with their numbers in a place that only one operator uses."""
    rows[:, mark] = np.arange(len(rows))
    return rows


def _kept(test: Test) -> Operator:
    return lambda run, rows: rows[test(run, rows)]


def _union(branches: list[Operator]) -> Operator:
    return lambda run, rows: np.concatenate([branch(run, rows) for branch in branches])


def _aggregated(run: Run, event: int, each: Aggregation, numbers: list[int]) -> int:
    if each.distinct:
        numbers = list(dict.fromkeys(numbers))
    if each.name == "COUNT":
        return run.terms.number_of_integer(event, len(numbers) - numbers.count(UNBOUND))
    quick = _of_integers(run, event, each.name, numbers)
    if quick is not None:
        return quick
    found = (None if number == UNBOUND else run.terms.term(number) for number in numbers)
    try:
        made = aggregate(each.name, found, run.context.budget, separator=each.separator)
    except ExpressionError:
        return UNBOUND
    return run.terms.number_of(event, made)


def _of_integers(run: Run, event: int, name: str, numbers: list[int]) -> int | None:
    """Return the number of a sum or an extreme of whole numbers; None if it is more than that."""
    if name not in ("SUM", "MIN", "MAX") or not numbers:
        return None
    values = [value for number in numbers if (value := run.terms.integers[number]) is not None]
    if len(values) < len(numbers):
        return None
    if name == "SUM":
        return run.terms.number_of_integer(event, sum(values))
    best = min(values) if name == "MIN" else max(values)
    # One value may be written in two ways.
    found = {number for number, value in zip(numbers, values, strict=True) if value == best}
    return found.pop() if len(found) == 1 else None


class _Held:
    """Rows that are kept, to be compared with others of their owner in the places that both may bind."""

    def __init__(self, run: Run, rows: Rows, shared: list[int]) -> None:
        self._rows: list[Row] = rows.tolist()
        for row in self._rows:
            run.hold(row)
        self._shared = shared
        self._always = [OWNER, *(place for place in shared if not (rows[:, place] == UNBOUND).any())]
        self._by: dict[tuple[int, ...], dict[tuple[int, ...], list[Row]]] = {}

    def agreeing(self, run: Run, row: Row) -> Iterator[Row]:
        """Yield the rows that are bound like this one wherever both are bound."""
        run.spend()
        places = tuple([place for place in self._always if row[place] != UNBOUND])
        if places not in self._by:
            run.spend(len(self._rows))
            groups: dict[tuple[int, ...], list[Row]] = {}
            for other in self._rows:
                groups.setdefault(tuple([other[place] for place in places]), []).append(other)
            self._by[places] = groups
        for other in self._by[places].get(tuple([row[place] for place in places]), ()):
            run.spend()
            if all(row[p] == other[p] or UNBOUND in (row[p], other[p]) for p in self._shared):
                yield other


def _held(run: Run, key: object, rows_of: Operator, shared: list[int]) -> _Held:
    """Return the rows of an operator, which are found when they are first needed."""
    held: _Held | None = run.kept.get(key)
    if held is None:
        held = run.kept[key] = _Held(run, rows_of(run, run.units), shared)
    return held


def selection(
    node: Selection, scope: Scope, core: Basic | None = None, also: tuple[int, ...] = ()
) -> Callable[[Run], Rows]:
    """Return how to get at the answers of a SELECT: owners, and the values of its variables, in order.

    What is in the places `also` comes between the two, if all rows have answers of their own.
    """
    operators = Operators(scope, core)
    rows_of = operators.of(node.pattern)
    terms = variables_in(node.pattern)
    places = scope.places(node.projection)
    last = None if node.limit is None else node.offset + node.limit
    keys = [(operators.evaluated(key.expression, terms), key.descending) for key in node.order]
    shown = [OWNER, *also, *places]

    def in_order(run: Run, rows: Rows) -> Rows:
        """Return the rows in order, owner by owner. A later sort keeps the order of an earlier one at ties."""
        run.spend(len(rows) * (1 + len(keys) + len(places)))
        run.context.budget.hold(_MEMBER_BYTES * rows.size)
        order = list(range(len(rows)))
        if node.is_cut:
            listed = rows[:, places].tolist()
            order.sort(key=lambda row: [sort_key(_term(run, number)) for number in listed[row]])
        for value, descending in reversed(keys):
            numbers = value.numbers(run, rows).tolist()
            order.sort(key=lambda row: value_key(_term(run, numbers[row])), reverse=descending)
        owners = rows[:, OWNER].tolist()
        order.sort(key=owners.__getitem__)
        return rows[order]

    def cut(answers: Rows) -> Rows:
        of_owners = groupby(range(len(answers)), key=answers[:, OWNER].tolist().__getitem__)
        return answers[[row for _, group in of_owners for row in [*group][node.offset : last]]]

    def selected(run: Run) -> Rows:
        rows = rows_of(run, run.start)
        if keys or node.is_cut:
            rows = in_order(run, rows)
        answers = rows[:, shown]
        if node.distinct:
            answers = _once(run, answers)
        return cut(answers) if node.is_cut else answers

    return selected


def _once(run: Run, answers: Rows) -> Rows:
    found = dict.fromkeys(map(tuple, answers.tolist()))
    run.context.budget.hold(_MEMBER_BYTES * answers.size)
    run.spend(len(answers))
    return np.array([*found], np.int32).reshape(len(found), answers.shape[1])


def _term(run: Run, number: int) -> Term | None:
    return None if number == UNBOUND else run.terms.term(number)
