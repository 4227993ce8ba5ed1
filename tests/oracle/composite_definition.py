"""What docs/COMPOSITE.md says, as a brute-force evaluator over a finished history; the letters are that page's.

It is slow and obvious, and shares no code with the detector: patterns and the meaning of filters come from the layers
below both.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise, product

from ontosub.model.composite import (
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
    operands_of,
)
from ontosub.model.relation import Relation
from ontosub.model.scope import certain
from ontosub.model.terms import Literal, Variable
from ontosub.semantics.arithmetic import add, divide
from ontosub.semantics.expressions import holds

NEVER = 1 << 62
MEMBERS_MAX = 10_000
NUMBERS = {str(Literal(number)): Literal(number) for number in range(-1000, 1000)}


@dataclass(frozen=True)
class Fact:
    """A match of the history: times in ticks, terms as texts."""

    subscription: str
    event: str
    start: int
    end: int
    rows: tuple[tuple[tuple[str, str], ...], ...]
    lifetime: int | None = None


@dataclass(frozen=True)
class Occurrence:
    """An instance, as a value."""

    start: int
    end: int
    expires: int
    rows: frozenset[frozenset[tuple[str, str]]]
    who: tuple
    parts: tuple[Occurrence, ...] = ()
    match: tuple[str, str] | None = None
    values: tuple[tuple[str, ...], ...] = ()

    @property
    def order(self):
        return (self.end, self.start, self.who, self.values)


class History:
    """All matches there ever were, the default lifetime, and where the subscription began."""

    def __init__(self, facts: list[Fact], lifetime: int | None = None, origin: int | None = None) -> None:
        seen = {}
        for fact in facts:
            if origin is None or fact.end > origin:  # W5
                seen.setdefault((fact.subscription, fact.event, fact.start, fact.end), fact)  # I6
        self.facts = list(seen.values())
        self.lifetime = lifetime
        self.origin = origin

    def occurrences(self, pattern: EventPattern) -> list[Occurrence]:
        """Return all instances of a pattern, in canonical order."""
        found = self._of(pattern)
        return sorted(found, key=lambda each: each.order)

    def _of(self, pattern: EventPattern) -> list[Occurrence]:
        match pattern:
            case Primitive():
                return [
                    self._match(pattern, fact) for fact in self.facts if fact.subscription == pattern.subscription_id
                ]
            case Restriction():
                return self._restricted(pattern)
            case Conjunction() | Concurrency() | Sequence():
                return [found for group in self._groups(pattern) for found in joins(pattern, group)]
            case Disjunction(window=None):
                return self._either(pattern)
            case Disjunction():
                return [found for group in self._groups(pattern) for found in pairs(pattern, group)]
            case Negation():
                return self._silences(pattern)
            case Exclusion():
                return [found for group in self._groups(pattern) for found in excluded(pattern, group)]
            case Iteration():
                return self._rows_of(pattern)

    def _match(self, pattern: Primitive, fact: Fact) -> Occurrence:  # I1, A4
        rows = frozenset(
            frozenset((new, dict(row)[old]) for old, new in pattern.variables if old in dict(row)) for row in fact.rows
        )
        lifetime = self.lifetime if fact.lifetime is None else fact.lifetime
        expires = NEVER if lifetime is None else fact.end + lifetime  # I4
        return Occurrence(fact.start, fact.end, expires, rows, (fact.event,), (), (fact.subscription, fact.event))

    def _restricted(self, pattern: Restriction) -> list[Occurrence]:  # R1
        short = [
            each
            for each in self.occurrences(pattern.operand)
            if pattern.window is None or each.end - each.start <= ticks(pattern.window)
        ]
        return made([((each,), holding(pattern, each.rows)) for each in short])

    def _either(self, pattern: Disjunction) -> list[Occurrence]:  # D1
        found = []
        for operand, each in self._sorted(pattern):
            found += made([((each,), holding(pattern, each.rows))], who=((operand, each.order),))
        return found

    def _sorted(self, pattern: EventPattern) -> list[tuple[int, Occurrence]]:  # I3, I5
        operands = list(dict.fromkeys(operands_of(pattern)))
        found = [(number, each) for number, operand in enumerate(operands) for each in self.occurrences(operand)]
        return sorted(found, key=lambda entry: (entry[1].end, entry[1].start, entry[0], entry[1].order))

    def _groups(self, pattern: EventPattern, names: frozenset[str] | None = None):  # A3
        if names is None:
            names = frozenset.intersection(*map(certain, operands_of(pattern)))
        return list(divided(self._sorted(pattern), tuple(sorted(names))).values())

    def _silences(self, pattern: Negation) -> list[Occurrence]:  # N1, N3
        window, found = ticks(pattern.window), []
        groups = divided(self._sorted(pattern), pattern.per)
        if not pattern.per:
            groups.setdefault((), [])
        for values, group in groups.items():
            ends = {each.end for _, each in group if holding(pattern, each.rows)}
            begins = ends | ({self.origin} if not pattern.per and self.origin is not None else set())
            row = frozenset(zip(pattern.per, values, strict=True))
            for begin in begins:
                if not any(begin < end <= begin + window for end in ends):
                    end = begin + window
                    expires = NEVER if self.lifetime is None else end + self.lifetime
                    found.append(Occurrence(begin, end, expires, frozenset({row}), (), values=(values,)))
        return found

    def _rows_of(self, pattern: Iteration) -> list[Occurrence]:
        found = []
        for values, group in divided(self._sorted(pattern), pattern.per).items():
            for members in iterated(pattern, [each for _, each in group], dict(zip(pattern.per, values, strict=True))):
                found += members
        return found


def ticks(duration: timedelta) -> int:
    return duration // timedelta(microseconds=1)


def delay(pattern: EventPattern) -> int:  # W3
    """Return how long after its end an instance may be unknown."""
    below = max(map(delay, operands_of(pattern)), default=0)
    match pattern:
        case Exclusion() | Iteration(count=None) | Disjunction(window=timedelta()):
            return below + ticks(pattern.window)
    return below


def holding(pattern, rows):  # A2
    def ok(row):
        bound = {Variable(name): NUMBERS[text] for name, text in row if text in NUMBERS}
        return all(holds(condition.expression, bound) for condition in pattern.where)

    return frozenset(row for row in rows if ok(row))


def merged(*many):  # A1
    rows = {frozenset()}
    for more in many:
        rows = {
            left | right
            for left in rows
            for right in more
            if all(dict(right).get(name, text) == text for name, text in left)
        }
    return frozenset(rows)


def made(candidates, who=None):  # I2, I4
    return [
        Occurrence(
            min(part.start for part in parts),
            max(part.end for part in parts),
            min(part.expires for part in parts),
            rows,
            tuple(part.order for part in parts) if who is None else who,
            parts,
        )
        for parts, rows in candidates
        if rows
    ]


def divided(entries, names):  # A3
    if not names:
        return {(): entries} if entries else {}
    groups = {}
    for operand, each in entries:
        values = {tuple(dict(row)[name] for name in names) for row in each.rows if set(names) <= set(dict(row))}
        for key in sorted(values):
            rows = frozenset(row for row in each.rows if tuple(dict(row).get(name) for name in names) == key)
            more = (key,) if len(each.rows) > 1 else ()
            part = Occurrence(
                each.start, each.end, each.expires, rows, each.who, each.parts, each.match, (*each.values, *more)
            )
            groups.setdefault(key, []).append((operand, part))
    return groups


def same(left, right):  # I5
    if left.match is not None and right.match is not None:
        return left.match == right.match and left.end == right.end
    return left is right


def related(relation: Relation, left, right) -> bool:
    s, e, s2, e2 = left.start, left.end, right.start, right.end
    return {
        Relation.EQUALS: s == s2 and e == e2,
        Relation.STARTS: s == s2 and e < e2,
        Relation.STARTED_BY: s == s2 and e > e2,
        Relation.FINISHES: s > s2 and e == e2,
        Relation.FINISHED_BY: s < s2 and e == e2,
        Relation.DURING: s > s2 and e < e2,
        Relation.INCLUDES: s < s2 and e > e2,
        Relation.BEFORE: s < s2 and e < e2 and e < s2,
        Relation.MEETS: s < s2 and e < e2 and e == s2,
        Relation.OVERLAPS: s < s2 and e < e2 and e > s2,
        Relation.AFTER: s > s2 and e > e2 and s > e2,
        Relation.MET_BY: s > s2 and e > e2 and s == e2,
        Relation.OVERLAPPED_BY: s > s2 and e > e2 and s < e2,
    }[relation]


def allowed(pattern, parts) -> bool:
    """J1 to J5: whether instances, one for each operand as written, may make a composite."""
    start, end = min(part.start for part in parts), max(part.end for part in parts)
    if pattern.window is not None and end - start > ticks(pattern.window):
        return False
    if end > min(part.expires for part in parts):
        return False
    if any(same(left, right) for n, left in enumerate(parts) for right in parts[:n]):
        return False
    neighbours = list(pairwise(parts))
    if isinstance(pattern, Concurrency) and not all(related(Relation.EQUALS, *pair) for pair in neighbours):
        return False
    if isinstance(pattern, Sequence) and not all(related(pattern.relation, *pair) for pair in neighbours):
        return False
    if isinstance(pattern, Sequence) and pattern.relation is not Relation.EQUALS:
        return True
    return all(
        parts[n].order < parts[m].order
        for n in range(len(parts))
        for m in range(n + 1, len(parts))
        if pattern.operands[n] == pattern.operands[m]
    )


def joins(pattern, group):  # C1, C2
    operands = list(dict.fromkeys(pattern.operands))
    positions = [operands.index(operand) for operand in pattern.operands]
    available, found, used = [], [], []
    for entry in group:
        if any(same(entry[1], each) for each in used):
            continue
        available.append(entry)
        choices = [[each for operand, each in available if operand == wanted] for wanted in positions]
        completed = [
            (parts, rows)
            for parts in product(*choices)
            if any(part is entry[1] for part in parts) and allowed(pattern, parts)
            if (rows := holding(pattern, merged(*(part.rows for part in parts))))
        ]
        if pattern.policy is Policy.CONSUME and completed:
            completed = [min(completed, key=lambda each: tuple(part.order for part in each[0]))]
            used += completed[0][0]
            available = [each for each in available if not any(same(each[1], part) for part in completed[0][0])]
        found += made(completed)
    return found


def pairs(pattern, group):  # D2, D3
    waiting, found, partnered = [], [], []
    for operand, each in group:
        fitting = []
        for other_operand, other in waiting:
            start = min(each.start, other.start)
            if other_operand == operand or each.end - start > ticks(pattern.window):
                continue
            if each.end > min(each.expires, other.expires) or (other.match and other.match == each.match):
                continue
            rows = holding(pattern, merged(other.rows, each.rows))
            if rows:
                fitting.append((other_operand, other, rows))
        if pattern.policy is Policy.CONSUME:
            fitting = fitting[:1]
        for other_operand, other, rows in fitting:
            chosen = sorted([(other_operand, other), (operand, each)], key=lambda entry: entry[0])
            who = tuple((number, part.order) for number, part in chosen)
            found += made([(tuple(part for _, part in chosen), rows)], who)
            partnered += [each, other]
        if pattern.policy is Policy.CONSUME and fitting:
            waiting = [entry for entry in waiting if entry[1] is not fitting[0][1]]
        else:
            waiting.append((operand, each))
    for operand, each in group:
        if not any(each is other for other in partnered):
            found += made([((each,), holding(pattern, each.rows))], who=((operand, each.order),))
    return found


def excluded(pattern, group):  # N2
    operands = list(dict.fromkeys(operands_of(pattern)))
    window, found = ticks(pattern.window), []
    first, second = operands.index(pattern.operand), operands.index(pattern.excluded)
    for each in [each for operand, each in group if operand == first]:
        after = [other for operand, other in group if operand == second and each.end < other.end <= each.end + window]
        left = frozenset(
            row for row in each.rows if not any(holding(pattern, merged({row}, other.rows)) for other in after)
        )
        found += made([((each,), left)])
    return found


def iterated(pattern, members, row):  # T1 to T7
    run = []
    for each in members:
        if run and pattern.window is not None and each.end - run[-1].end > ticks(pattern.window):
            if pattern.count is None:
                yield told(pattern, run, row)
            run = []
        outlived = [number for number, member in enumerate(run) if member.expires < each.end]
        run = run[outlived[-1] + 1 :] if outlived else run
        run = [*run, each]
        if pattern.count is None:
            if len(run) == MEMBERS_MAX:  # T8
                yield told(pattern, run, row)
                run = []
        elif len(run) == pattern.count:
            found = told(pattern, run, row)
            yield found
            run = [] if found and pattern.policy is Policy.CONSUME else run[1:]
    if pattern.count is None and run:
        yield told(pattern, run, row)


def told(pattern, run, row):  # T4, T5
    bound = dict(row)
    for aggregate in pattern.aggregates:
        if aggregate.function is AggregateFunction.COUNT:
            bound[aggregate.name] = str(Literal(len(run)))
            continue
        values = [NUMBERS[dict(r)[aggregate.variable]] for m in run for r in m.rows if aggregate.variable in dict(r)]
        if not values:
            continue
        total = Literal(0)
        for value in values:
            total = add(total, value)
        by_number = sorted(values, key=lambda literal: int(literal.value))
        computed = {
            AggregateFunction.MIN: by_number[0],
            AggregateFunction.MAX: by_number[-1],
            AggregateFunction.SUM: total,
            AggregateFunction.AVG: divide(total, Literal(len(values))),
        }[aggregate.function]
        bound[aggregate.name] = str(computed)
        NUMBERS.setdefault(str(computed), computed)
    return made([(tuple(run), holding(pattern, {frozenset(bound.items())}))])
