"""Operators that combine, restrict and compute solutions; `ontosub.matching.solutions` is the definition.

A node becomes an operator. Plain patterns continue any row. Everything else starts from the unit row of its scope, as
bottom-up evaluation demands, and is then joined with what it stands beside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from ontosub.matching.compiled.queries.expressions import Evaluated, Finder
from ontosub.matching.compiled.queries.patterns import Operator, basic, chain, core, path, registers, unfolding, unified
from ontosub.matching.compiled.queries.rows import End, Row, Run, Scope
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
from ontosub.model.terms import Literal, PatternTerm, Term, Variable
from ontosub.semantics.aggregates import aggregate
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.ordering import sort_key, value_key

Test = Callable[[Run, Row], bool]
_Search = Callable[[Run, Row, tuple[int, ...]], bool]


def continues(node: Node, outer: frozenset[PatternTerm]) -> bool:
    """Say whether the operator of a node may continue rows that bind some of the outer terms.

    What it finds then must not depend on where it starts: what is left unbound inside may not be bound outside.
    """
    inner = variables_in(node) & outer
    match node:
        case Basic() | PathPattern() | Unfolding() | Values():
            return True
        case Join(left, right):
            return continues(left, outer) and continues(right, outer | variables_in(left))
        case LeftJoin(left, right, conditions):
            sides = continues(left, outer) and continues(right, outer | variables_in(left))
            return sides and inner | (_seen_by_exists(conditions) & outer) <= certain_in(left)
        case Union(branches):
            return all(continues(branch, outer) for branch in branches)
        case Filter(pattern, said) | Extend(pattern, _, said):
            return continues(pattern, outer) and inner | (_seen_by_exists(said) & outer) <= certain_in(pattern)
    return False


def _seen_by_exists(said: object) -> frozenset[PatternTerm]:
    """Return the variables that patterns of EXISTS mention: each sees what the row binds of them."""
    patterns = [part for part in parts_of(said) if isinstance(part, Exists)]
    return frozenset(part for each in patterns for part in parts_of(each) if isinstance(part, Variable))


def certain_in(node: Node) -> frozenset[PatternTerm]:
    """Return variables that every solution of a pattern binds."""
    match node:
        case Basic() | PathPattern() | Unfolding():
            return variables_in(node)
        case Join(left, right):
            return certain_in(left) | certain_in(right)
        case Union(branches):
            return frozenset.intersection(*map(certain_in, branches))
        case LeftJoin(pattern) | Minus(pattern) | Filter(pattern) | Extend(pattern):
            return certain_in(pattern)
        case Values(variables, rows):
            return frozenset(
                each for place, each in enumerate(variables) if all(row[place] is not None for row in rows)
            )
    return frozenset()


class Core(NamedTuple):
    """The pattern of a query that the index looks for, and the conditions that hold of what it finds."""

    node: Basic
    conditions: tuple[Condition, ...]


class Operators:
    """Makes the operators of one scope."""

    def __init__(self, scope: Scope, core: Core | None = None, around: frozenset[PatternTerm] = frozenset()) -> None:
        """Make operators; `around` are the terms around the pattern of an EXISTS whose rows are those around it."""
        self._scope = scope
        self._core = core
        self._around = around
        if core is not None:
            scope.places(registers(core.node.pattern))

    def of(self, node: Node, bound: frozenset[PatternTerm] = frozenset()) -> Operator:
        """Return the operator of a node; `bound` are the terms that rows probably bind before it."""
        match node:
            case Basic(pattern) if self._core is not None and node is self._core.node:
                hold = self._all(self._core.conditions, variables_in(node))
                return core(pattern, self._scope, hold)
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
        """Return the operator that merges a row of the left side with those of the right side that agree."""
        outer = bound | variables_in(left)
        if continues(right, outer):
            return self.of(right, outer)
        rows_of, shared = self.of(right), self._scope.places(variables_in(left) & variables_in(right))
        own = self._scope.places(variables_in(right))
        key = object()

        def merge(run: Run, row: Row) -> Iterator[Row]:
            for other in _held(run, key, rows_of, shared).agreeing(run, row):
                merged = row[:]
                for place in own:
                    if other[place] != UNBOUND:
                        merged[place] = other[place]
                yield merged

        return merge

    def _left_join(self, node: LeftJoin, bound: frozenset[PatternTerm]) -> Operator:
        first, other = self.of(node.left, bound), self._matching(node.left, node.right, bound)
        hold = self._all(node.conditions, variables_in(node.left) | variables_in(node.right))

        def left_join(run: Run, row: Row) -> Iterator[Row]:
            for found in first(run, row):
                is_alone = True
                for merged in other(run, found):
                    if hold(run, merged):
                        is_alone = False
                        yield merged
                if is_alone:
                    run.spend()
                    yield found

        return left_join

    def _minus(self, left: Node, right: Node) -> Operator:
        first, outer = self.of(left), variables_in(left)
        common = outer & variables_in(right)
        if not common:
            # Solutions that share no variable take nothing away from each other.
            return first
        if common <= certain_in(left) & certain_in(right) and continues(right, outer):
            other = self.of(right, outer)
            return lambda run, row: (found for found in first(run, row) if not _is_any(other(run, found)))
        rows_of, shared = self.of(right), self._scope.places(common)
        key = object()

        def minus(run: Run, row: Row) -> Iterator[Row]:
            for found in first(run, row):
                others = _held(run, key, rows_of, shared).agreeing(run, found)
                if not any(any(found[place] == other[place] != UNBOUND for place in shared) for other in others):
                    yield found

        return minus

    def _filter(self, pattern: Node, conditions: tuple[Condition, ...], bound: frozenset[PatternTerm]) -> Operator:
        rows_of, hold = self.of(pattern, bound), self._all(conditions, variables_in(pattern))

        def filtered(run: Run, row: Row) -> Iterator[Row]:
            return (found for found in rows_of(run, row) if hold(run, found))

        return filtered

    def _all(self, conditions: tuple[Condition, ...], terms: frozenset[PatternTerm]) -> Test:
        """Return the test whether all conditions hold of a row that may bind these terms."""
        tests = [self._test(each.expression, terms) for each in conditions]
        if not tests:
            return lambda run, row: True
        return tests[0] if len(tests) == 1 else lambda run, row: all(test(run, row) for test in tests)

    def _test(self, expression: Expression, terms: frozenset[PatternTerm]) -> Test:
        around = terms | self._around | self._scope.seen.keys()
        match expression:
            case Exists():
                return self._finder(expression, around)
            case Call(Function.NOT, (Exists() as asked,)):
                exists = self._finder(asked, around)
                return lambda run, row: not exists(run, row)
        return self.evaluated(expression, terms).holds

    def evaluated(
        self, expression: Expression, terms: frozenset[PatternTerm], computed: frozenset[Variable] = frozenset()
    ) -> Evaluated:
        """Return an expression over rows that may bind some terms, the `computed` ones since they were found."""
        return Evaluated(expression, self._scope, terms | self._around, self._finder, computed)

    def _finder(self, asked: Exists, around: frozenset[PatternTerm]) -> Finder:
        mentioned = {part for part in parts_of(asked.pattern) if isinstance(part, Variable)}
        sees = sorted(mentioned & around, key=str)
        getters = [end.getter() for end in self._scope.ends(sees)]
        is_found = self._search(asked.pattern, around, sees)
        key = object()

        def exists(run: Run, row: Row) -> bool:
            run.spend()
            remembered = run.kept.get(key)
            if remembered is None:
                remembered = run.kept[key] = {}
            seen = tuple([value_in(row) for value_in in getters])
            found = remembered.get(seen)
            if found is None:
                run.hold(seen)
                found = remembered[seen] = is_found(run, row, seen)
            return bool(found)

        return exists

    def _search(self, pattern: Node, around: frozenset[PatternTerm], sees: list[Variable]) -> _Search:
        """Return how to find out whether a pattern has a solution that agrees with a row, and what it sees of it."""
        if continues(pattern, around):
            continued = Operators(self._scope, around=around).of(pattern, around)
            return lambda run, row, seen: _is_any(continued(run, row))
        inner = Scope(sees)
        rows_of = Operators(inner).of(pattern)

        def search(run: Run, row: Row, seen: tuple[int, ...]) -> bool:
            inside = run.inside(inner, seen)
            return _is_any(rows_of(inside, inside.unit))

        return search

    def _extend(self, node: Extend, bound: frozenset[PatternTerm]) -> Operator:
        rows_of = self.of(node.pattern, bound)
        value = self.evaluated(node.expression, variables_in(node.pattern), extended_in(node.pattern))
        end = self._scope.end(node.variable)

        def extend(run: Run, row: Row) -> Iterator[Row]:
            for found in rows_of(run, row):
                number = value.number(run, found)
                if number == UNBOUND:
                    yield found
                else:
                    yield from unified(found, ((end, number),))

        return extend

    def _values(self, node: Values) -> Operator:
        if len(node.variables) == 1 and all(term is not None for (term,) in node.rows):
            return _among(self._scope.end(node.variables[0]), self._scope.places(term for (term,) in node.rows if term))
        variables = self._scope.ends(node.variables)
        rows = [
            [(end, self._scope.place(term)) for end, term in zip(variables, row, strict=True) if term is not None]
            for row in node.rows
        ]

        def values(run: Run, row: Row) -> Iterable[Row]:
            run.spend(len(rows))
            return [found for given in rows for found in unified(row, [(end, row[place]) for end, place in given])]

        return values

    def _named(self, node: Named) -> Operator:
        rows_of = self.of(node.pattern)
        name = self._scope.end(node.name)
        name_in = name.getter()

        def named(run: Run, row: Row) -> Iterator[Row]:
            for number, arcs in run.facts.named.items():
                run.spend()
                if name_in(row) in (UNBOUND, number):
                    for found in rows_of(run.on(arcs), row):
                        yield from unified(found, ((name, number),))

        return named

    def _grouping(self, node: Grouping) -> Operator:
        terms = variables_in(node.pattern)
        rows_of = self.of(node.pattern)
        keys = [(self._scope.place(variable), self.evaluated(each, terms)) for variable, each in node.keys]
        aggregates = [(self._scope.place(each.variable), self._aggregate(each, terms)) for each in node.aggregations]

        def groups(run: Run, row: Row) -> Iterator[Row]:
            found: dict[tuple[int, ...], list[Row]] = {} if keys else {(): []}
            for member in rows_of(run, row):
                key = tuple([value.number(run, member) for _, value in keys])
                found.setdefault(key, []).append(run.hold(member))
            for key, members in found.items():
                group = run.unit[:]
                for (place, _), number in zip(keys, key, strict=True):
                    group[place] = number
                for place, value in aggregates:
                    group[place] = value(run, members)
                yield group

        return groups

    def _aggregate(self, each: Aggregation, terms: frozenset[PatternTerm]) -> Callable[[Run, list[Row]], int]:
        """Return how to get at the number of an aggregate of a group."""
        if each.argument is None:
            places = self._scope.places(term for term in terms if isinstance(term, Variable))
            return lambda run, rows: run.terms.number_of(Literal(_count(rows, places, each.distinct)))
        value = self.evaluated(each.argument, terms)

        def aggregated(run: Run, rows: list[Row]) -> int:
            numbers: Sequence[int] = [value.number(run, row) for row in rows]
            if each.distinct:
                numbers = list(dict.fromkeys(numbers))
            run.spend(len(rows))
            if each.name == "COUNT":
                return run.terms.number_of(Literal(sum(number != UNBOUND for number in numbers)))
            found = (None if number == UNBOUND else run.terms.term(number) for number in numbers)
            try:
                made = aggregate(each.name, found, run.context.budget, separator=each.separator)
            except ExpressionError:
                return UNBOUND
            return run.terms.number_of(made)

        return aggregated

    def _subselect(self, node: Selection) -> Operator:
        sees = [variable for variable in node.projection if variable in self._scope.seen]
        inner = Scope(sees)
        selected = selection(node, inner)
        getters = [end.getter() for end in self._scope.ends(sees)]
        ends = self._scope.ends(node.projection)

        def subselect(run: Run, row: Row) -> Iterator[Row]:
            inside = run.inside(inner, [value_in(row) for value_in in getters])
            for values in selected(inside):
                yield from unified(
                    row, [(end, value) for end, value in zip(ends, values, strict=True) if value != UNBOUND]
                )

        return subselect


def _among(end: End, constants: list[int]) -> Operator:
    """Return the operator for one variable that has one of the values in some places."""
    place, seen = end.place, end.seen
    key = object()

    def among(run: Run, row: Row) -> Iterable[Row]:
        counts = run.kept.get(key)
        if counts is None:
            run.spend(len(constants))
            counts = run.kept[key] = Counter([row[constant] for constant in constants])
        run.spend()
        value = row[seen] if row[place] == UNBOUND else row[place]
        if value == UNBOUND:
            return (found for constant in constants for found in unified(row, ((end, row[constant]),)))
        count = counts.get(value)
        return [*unified(row, ((end, value),))] * count if count else ()

    return among


def _is_any(rows: Iterable[Row]) -> bool:
    return next(iter(rows), None) is not None


def _union(branches: list[Operator]) -> Operator:
    def union(run: Run, row: Row) -> Iterator[Row]:
        for branch in branches:
            yield from branch(run, row)

    return union


def _count(rows: list[Row], places: list[int], distinct: bool) -> int:
    return len({tuple([row[place] for place in places]) for row in rows}) if distinct else len(rows)


class _Held:
    """Rows that are kept, to be compared with others in the places that both may bind."""

    def __init__(self, run: Run, rows: Iterable[Row], shared: list[int]) -> None:
        self._rows = [run.hold(row) for row in rows]
        self._shared = shared
        self._always = [place for place in shared if all(row[place] != UNBOUND for row in self._rows)]
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
        held = run.kept[key] = _Held(run, rows_of(run, run.unit), shared)
    return held


def selection(node: Selection, scope: Scope, core: Core | None = None) -> Callable[[Run], Iterator[tuple[int, ...]]]:
    """Return how to get at the answers of a SELECT: the values of its variables, in the order of its projection."""
    operators = Operators(scope, core)
    rows_of = operators.of(node.pattern)
    terms = variables_in(node.pattern)
    places = scope.places(node.projection)
    picked, last = _picker(places), None if node.limit is None else node.offset + node.limit
    keys = [(operators.evaluated(key.expression, terms), key.descending) for key in node.order]

    def in_order(run: Run, rows: Iterable[Row]) -> list[Row]:
        """Return the rows in order. A later sort keeps the order of an earlier one where it sees ties."""
        kept = [run.hold(row) for row in rows]
        run.spend(len(kept) * (len(keys) + len(places)))
        if node.is_cut:
            kept.sort(key=lambda row: [sort_key(_term(run, row[place])) for place in places])
        for value, descending in reversed(keys):
            kept.sort(key=lambda row: value_key(value.term(run, row)), reverse=descending)
        return kept

    def selected(run: Run) -> Iterator[tuple[int, ...]]:
        rows: Iterable[Row] = rows_of(run, run.unit)
        if keys or node.is_cut:
            rows = in_order(run, rows)
        answers: Iterator[tuple[int, ...]] = map(picked, rows)
        if node.distinct:
            answers = _once(run, answers)
        return iter([*answers][node.offset : last]) if node.is_cut else answers

    return selected


def _picker(places: list[int]) -> Callable[[Row], tuple[int, ...]]:
    """Return what takes the values in some places out of a row."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda row: tuple([row[place] for place in places])


def _once(run: Run, answers: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    found: set[Any] = set()
    for answer in answers:
        if answer not in found:
            run.hold(answer)
            found.add(answer)
            yield answer


def _term(run: Run, number: int) -> Term | None:
    return None if number == UNBOUND else run.terms.term(number)
