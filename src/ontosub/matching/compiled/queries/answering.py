"""The answers of the queries of a part: those of one form together, on many events, from what the index found for them.

Queries that are answered together share one budget, the one that each of them has. If that does not suffice, or if one
of them fails, each is answered alone: so what they cost together is bounded, and nobody pays for others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from ontosub.languages.sparql import query_of
from ontosub.matching.answers import BINDING_BYTES, construct
from ontosub.matching.compiled.index.part import Cores, Part
from ontosub.matching.compiled.index.ragged import spread
from ontosub.matching.compiled.index.walk import VERTICES
from ontosub.matching.compiled.lane import Arrival
from ontosub.matching.compiled.queries.facts import Facts
from ontosub.matching.compiled.queries.joins import gathered
from ontosub.matching.compiled.queries.plan import Plans, Prepared
from ontosub.matching.compiled.queries.rows import OWNER, Array, Rows
from ontosub.matching.compiled.queries.terms import UNBOUND, Terms
from ontosub.matching.residual import context_of, described
from ontosub.model import Binding, Match
from ontosub.model.algebra import Query
from ontosub.semantics.budget import Budget

ROWS_MAX = 5_000
"""How many rows queries that are answered together may start from: with many rows, it is of no use."""

PREPARED_MAX = 50_000
"""How many queries of a part are kept ready."""

T = TypeVar("T")

GiveUp: TypeAlias = Callable[[Arrival, str, Exception], None]
"""Is told that a subscription failed on an event."""


class Candidates(NamedTuple):
    """An event, what the index found in it for the cores of queries, and who is to be answered from all of it."""

    arrival: Arrival
    cores: Cores
    whole: list[int]


class Group(NamedTuple):
    """Queries of one plan, each on an event, and what the index found for their cores, by place.

    Of each: the event, by its place among the candidates and among the facts, the number of the subscription, and the
    query.
    """

    facts: Facts
    events: list[int]
    places: list[int]
    numbers: list[int]
    queries: list[Prepared]
    core: tuple[Array, Array] | None

    def alone(self) -> Iterator[Group]:
        """Yield each query as a group of its own."""
        for owner in range(len(self.queries)):
            core = None
            if self.core is not None:
                owners, values = self.core
                values = values[owners == owner]
                core = np.zeros(len(values), np.int32), values
            only = slice(owner, owner + 1)
            events, places, numbers = self.events[only], self.places[only], self.numbers[only]
            yield Group(self.facts, events, places, numbers, self.queries[only], core)


class Queries:
    """The queries of a part, as far as they have been candidates."""

    def __init__(self, part: Part, plans: Plans) -> None:
        self.plans = plans
        self._part = part
        self._of_core: dict[int, Prepared] = {}
        self._of_whole: dict[int, Prepared] = {}
        self._offsets = _Offsets(len(part.segment.entries))

    def groups(self, candidates: Sequence[Candidates], facts: Facts, give_up: GiveUp) -> Iterator[Group]:
        """Yield the candidates in groups; the facts are those of all events. Who cannot be prepared is given up."""
        if len(self._of_core) + len(self._of_whole) > PREPARED_MAX:
            self._of_core, self._of_whole, self._offsets = {}, {}, _Offsets(len(self._offsets.starts))
        yield from self._with_cores(candidates, facts, give_up)
        yield from self._with_nothing(candidates, facts, give_up)

    def _with_nothing(self, candidates: Sequence[Candidates], facts: Facts, give_up: GiveUp) -> Iterator[Group]:
        """Yield those that are to be answered from all of an event."""
        asked = []
        for event, each in enumerate(candidates):
            for number in each.whole:
                try:
                    if number not in self._of_whole:
                        self._of_whole[number] = self.plans.of_whole(*self._query(number))
                    asked.append((event, number))
                except Exception as error:
                    give_up(each.arrival, self._part.holding[number].id, error)
        if asked:
            queries = [self._of_whole[number] for _, number in asked]
            events, numbers = np.array(asked).T
            order, bounds = _by_plan(queries, events)
            for first, last in bounds:
                chosen = order[first:last]
                ready = [queries[each] for each in chosen]
                yield self._group(candidates, facts, events[chosen], numbers[chosen], ready)

    def _query(self, number: int) -> tuple[str, Query]:
        """Return the id of a subscription, and its query."""
        subscription = self._part.holding[number]
        return subscription.id, query_of(subscription.residual or "")

    def _with_cores(self, candidates: Sequence[Candidates], facts: Facts, give_up: GiveUp) -> Iterator[Group]:
        """Yield those whose cores were found."""
        cores, event = _joined([each.cores for each in candidates])
        failed = self._prepare(cores)
        if failed:
            fails = np.isin(cores.subscription, [*failed])
            for place, number in {*zip(event[fails].tolist(), cores.subscription[fails].tolist(), strict=True)}:
                give_up(candidates[place].arrival, self._part.holding[number].id, failed[number])
            cores, event = cores.only(~fails), event[~fails]
        if not len(cores.place):
            return
        values = self._offsets.gathered(cores)
        order = np.lexsort((cores.subscription, event))
        starts = np.flatnonzero(np.diff(event[order] * len(self._part) + cores.subscription[order], prepend=-1))
        counts = np.diff(starts, append=len(order))
        events, numbers = event[order[starts]], cores.subscription[order[starts]]
        queries = [self._of_core[number] for number in numbers.tolist()]
        ranked, bounds = _by_plan(queries, events, counts)
        # The rows of queries of one plan become neighbours.
        values = values[order[spread(starts[ranked], counts[ranked])]]
        owners = np.repeat(np.arange(len(queries), dtype=np.int32), counts[ranked])
        ends = [0, *np.cumsum(counts[ranked]).tolist()]
        for first, last in bounds:
            chosen, rows = ranked[first:last], slice(ends[first], ends[last])
            core = owners[rows] - np.int32(first), values[rows]
            ready = [queries[each] for each in chosen]
            yield self._group(candidates, facts, events[chosen], numbers[chosen], ready, core)

    @staticmethod
    def _group(
        candidates: Sequence[Candidates],
        facts: Facts,
        events: Array,
        numbers: Array,
        queries: list[Prepared],
        core: tuple[Array, Array] | None = None,
    ) -> Group:
        places = events
        if queries[0].plan.is_local:
            facts, places = candidates[events[0]].arrival.facts(), np.zeros_like(events)
        if core is not None:
            core = core[0], _moved(facts, queries, places[core[0]], *core)
        return Group(facts, events.tolist(), places.tolist(), numbers.tolist(), queries, core)

    def _prepare(self, cores: Cores) -> dict[int, Exception]:
        """Prepare what is a candidate for the first time; return who fails, and of what."""
        failed: dict[int, Exception] = {}
        for row in np.flatnonzero(self._offsets.starts[cores.entry] < 0).tolist():
            number, entry = int(cores.subscription[row]), int(cores.entry[row])
            if number in failed:
                continue
            prepared = self._of_core.get(number)
            if prepared is None:
                try:
                    (core,) = self._part.holding[number].patterns
                    prepared = self._of_core[number] = self.plans.of_core(*self._query(number), core)
                except Exception as error:
                    failed[number] = error
                    continue
            vertices = int(cores.numbers[cores.place[row] + VERTICES])
            self._offsets.put(entry, self._part.places(entry, vertices), prepared.columns)
        return failed


def _by_plan(
    queries: Sequence[Prepared], events: Array, rows: Array | None = None
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the queries in the order of their plans, and from where to where groups go among them.

    A group is of one plan, of one event if the plan asks for that, and has few rows unless there is one query in it.
    """
    numbers = np.array([query.plan.number for query in queries])
    is_local = np.array([query.plan.is_local for query in queries])
    ranked = np.lexsort((np.where(is_local, events, 0), numbers))
    order, keys = ranked.tolist(), np.where(is_local, numbers * (1 + events.max()) + events, -1 - numbers).tolist()
    counts = [1] * len(order) if rows is None else rows.tolist()
    bounds, first, count = [], 0, 0
    for place, each in enumerate(order):
        if place > first and (keys[each] != keys[order[first]] or count + counts[each] > ROWS_MAX):
            bounds.append((first, place))
            first, count = place, 0
        count += counts[each]
    return order, [*bounds, (first, len(order))]


def _joined(cores: Sequence[Cores]) -> tuple[Cores, Array]:
    """Return the cores found in all events as those of one, and of which event each row is."""
    if len(cores) == 1:
        return cores[0], np.zeros(len(cores[0].place), np.int64)
    before = np.cumsum([0, *(len(each.numbers) for each in cores)])
    counts = [len(each.place) for each in cores]
    columns = zip(*(each[:5] for each in cores), strict=True)
    numbers, place, entry, subscription, is_open = map(np.concatenate, columns)
    return (
        Cores(numbers, place + np.repeat(before[:-1], counts), entry, subscription, is_open),
        np.repeat(np.arange(len(cores)), counts),
    )


def _moved(facts: Facts, queries: list[Prepared], events: Array, owners: Array, found: Array) -> Array:
    """Return what the index found with numbers as they are among all facts: of vertices, and of properties as terms.

    `events` and `owners` are those of the rows.
    """
    moved = found + facts.firsts[events, None] if len(facts.firsts) > 1 else found
    columns = [query.properties for query in queries]
    if any(columns):
        moved = moved.copy()
        starts, terms = facts.all_property_terms
        for asked in {*columns}:
            chosen = np.flatnonzero(np.array([each == asked for each in columns])[owners])
            for column in asked:
                moved[chosen, column] = terms[starts[events[chosen]] + found[chosen, column]]
    return moved


class _Offsets:
    """Where in what a walk writes down for an entry those columns are that matter."""

    def __init__(self, entries: int) -> None:
        self.starts = np.full(entries, -1, np.int32)
        self._widths = np.zeros(entries, np.int32)
        self._offsets = np.empty(64, np.int32)
        self._count = 0

    def put(self, entry: int, places: Sequence[int], columns: Sequence[int]) -> None:
        """Note where the columns of an entry are."""
        if self._count + len(columns) > len(self._offsets):
            self._offsets = np.concatenate((self._offsets, np.empty(len(self._offsets) + len(columns), np.int32)))
        self.starts[entry], self._widths[entry] = self._count, len(columns)
        self._offsets[self._count : self._count + len(columns)] = [places[each] for each in columns]
        self._count += len(columns)

    def gathered(self, cores: Cores) -> Array:
        """Return the columns that matter of all rows; those that one has less of are UNBOUND."""
        width = int(self._widths[cores.entry].max())
        found: Array = gathered(
            cores.numbers, cores.place, cores.entry, self.starts, self._widths, self._offsets, width
        )
        return found


MatchOf: TypeAlias = tuple[int, int, Match]
"""A match: on which event, of which subscription."""


class Answers(NamedTuple):
    """Answers in numbers. Of each: the event, the subscription, and how many terms it shows; of each term: the number
    of its variable's name, and a vertex of the event or, inverted, one of the texts that follow."""

    events: Array
    numbers: Array
    counts: Array
    labels: Array
    codes: Array
    texts: list[str]


def _flat(lists: Iterable[Sequence[int]]) -> Array:
    return np.array([each for one in lists for each in one], np.int32)


class Asker:
    """Answers groups of queries on some events."""

    def __init__(self, candidates: Sequence[Candidates], give_up: GiveUp) -> None:
        """Ask about the events; who fails alone is given up."""
        self._arrivals = [each.arrival for each in candidates]
        self._give_up = give_up

    def matching(self, group: Group) -> list[tuple[int, int]]:
        """Return the queries that have an answer: events and subscriptions."""
        return self._tried(group, self._matching)

    def matches(self, group: Group) -> list[MatchOf]:
        """Return the matches of the queries that have an answer."""
        return self._tried(group, self._matches)

    def columns(self, group: Group) -> list[Answers | MatchOf]:
        """Return the answers of the queries as columns, but for those of which a graph is made."""
        return self._tried(group, self._columns)

    def _columns(self, group: Group, budget: Budget) -> list[Answers | MatchOf]:
        queries = group.queries
        if any(query.template is not None or query.described is not None for query in queries):
            return [*self._matches(group, budget)]
        rows = self._rows(group, budget)
        asks = np.array([query.asks for query in queries])
        if asks.any():
            # Who only asks has one answer.
            first = np.zeros(len(rows), np.bool_)
            first[np.unique(rows[:, OWNER], return_index=True)[1]] = True
            rows = rows[first | ~asks[rows[:, OWNER]]]
        owners = rows[:, OWNER]
        widths = np.array([0 if query.asks else len(query.places) for query in queries])
        counts = widths[owners]
        shown = spread((np.cumsum(widths) - widths)[owners], counts)
        kept = [query for query in queries if not query.asks]
        places, labels = (_flat(getattr(query, each) for query in kept) for each in ("places", "labels"))
        of_rows = np.repeat(np.arange(len(rows)), counts)
        values = rows[of_rows, places[shown]]
        is_bound = values != UNBOUND
        of_rows, values, labels = of_rows[is_bound], values[is_bound], labels[shown[is_bound]]
        places_of = np.array(group.places)[owners]
        codes, texts = group.facts.coded(values, places_of[of_rows])
        budget.hold(BINDING_BYTES * len(rows) + group.facts.bytes_of(values))
        counts = np.bincount(of_rows, minlength=len(rows))
        return [Answers(np.array(group.events)[owners], np.array(group.numbers)[owners], counts, labels, codes, texts)]

    def _tried(self, group: Group, ask: Callable[[Group, Budget], list[T]]) -> list[T]:
        try:
            return ask(group, Budget())
        except Exception as error:
            if len(group.queries) > 1:
                return [found for alone in group.alone() for found in self._tried(alone, ask)]
            self._give_up(self._arrivals[group.events[0]], group.queries[0].id, error)
            return []

    def _matching(self, group: Group, budget: Budget) -> list[tuple[int, int]]:
        answering = {*self._answers(group, budget)[:, OWNER].tolist()}
        return [(group.events[owner], group.numbers[owner]) for owner in answering]

    def _matches(self, group: Group, budget: Budget) -> list[MatchOf]:
        matches = []
        columns = group.events, group.numbers, group.queries, self._bindings(group, budget)
        for event, number, query, found in zip(*columns, strict=True):
            if found:
                arrival, graph = self._arrivals[event], None
                if query.template is not None:
                    graph = construct(query.template, found, budget)
                elif query.described is not None:
                    graph = described(query.described, found, arrival.graph(), budget)
                matches.append((event, number, Match(query.id, arrival.id, found, graph, arrival.interval)))
        return matches

    def _answers(self, group: Group, budget: Budget) -> Rows:
        # Who depends on the event itself is asked about one event only.
        context = context_of(self._arrivals[group.events[0]], budget)
        return group.queries[0].plan.answers(group.facts, context, group.queries, group.places, group.core)

    def _rows(self, group: Group, budget: Budget) -> Rows:
        """Return the answers, each followed by what the index found for the core, if anything of that is shown."""
        rows = self._answers(group, budget)
        if group.core is None or not group.queries[0].plan.shows_rows:
            return rows
        found: Rows = np.hstack((rows, group.core[1][rows[:, 1]]))
        return found

    def _bindings(self, group: Group, budget: Budget) -> list[list[Binding]]:
        """Return the answers of each query."""
        rows = self._rows(group, budget)
        if len(group.queries) == 1:
            return [_bindings_of_one(group.queries[0], rows, group.facts.terms, budget)]
        queries, terms = group.queries, group.facts.terms
        term, bytes_of, hold = terms.term, terms.bytes_of, budget.hold
        found: list[list[Binding]] = [[] for _ in queries]
        for row in rows.tolist():
            owner = row[OWNER]
            query, of_owner = queries[owner], found[owner]
            if query.asks:
                if not of_owner:
                    of_owner.append(Binding())
                continue
            values = [row[place] for place in query.places]
            hold(BINDING_BYTES + sum(map(bytes_of, values)))
            if UNBOUND in values:
                pairs = zip(query.names, values, strict=True)
                of_owner.append(Binding([(name, term(value)) for name, value in pairs if value != UNBOUND]))
            else:
                of_owner.append(Binding(zip(query.names, map(term, values), strict=True)))
        return found


def _bindings_of_one(query: Prepared, rows: Rows, terms: Terms, budget: Budget) -> list[Binding]:
    """Return the answers of the only query of a group, which may be many: column by column."""
    if query.asks:
        return [Binding()] * bool(len(rows))
    columns = [rows[:, place].tolist() for place in query.places]
    budget.hold(BINDING_BYTES * len(rows) + sum(sum(map(terms.bytes_of, column)) for column in columns))
    if not columns:
        return [Binding() for _ in range(len(rows))]
    if any(UNBOUND in column for column in columns):
        answers = zip(*columns, strict=True)
        pairs = (zip(query.names, answer, strict=True) for answer in answers)
        return [Binding([(name, terms.term(value)) for name, value in each if value != UNBOUND]) for each in pairs]
    shown = (map(terms.term, column) for column in columns)
    return [Binding(zip(query.names, answer, strict=True)) for answer in zip(*shown, strict=True)]
