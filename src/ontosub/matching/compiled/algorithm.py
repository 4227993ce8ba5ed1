"""The compiled algorithm: events through the index, rows into answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ontosub.matching.algorithm import COSTS, Indexed, warn_of
from ontosub.matching.answers import answer_bytes, match_of
from ontosub.matching.batch import Batch, BatchResult, Collected
from ontosub.matching.compiled.columns import Columns, too_long
from ontosub.matching.compiled.files.storage import Saved, load, save
from ontosub.matching.compiled.index.index import Index
from ontosub.matching.compiled.index.part import CORE_DECIDES, NO_CORES, RESIDUAL_DECIDES, Cores, Part, Rows, Walked
from ontosub.matching.compiled.lane import Arrival, Found
from ontosub.matching.compiled.mappings import Mappings
from ontosub.matching.compiled.queries.answering import Asker, Candidates, Group, MatchOf, Queries
from ontosub.matching.compiled.queries.plan import Plans
from ontosub.matching.limits import check_size
from ontosub.model import Binding, Event, Match, Subscription
from ontosub.model.errors import LimitError, OntosubError
from ontosub.semantics import Entailment
from ontosub.semantics.budget import BYTES_MAX, Budget

Array = NDArray[Any]
T = TypeVar("T")

_TOGETHER_MAX, _VERTICES_MAX = 64, 20_000
"""How many events of a batch are matched together, and about how many vertices they have."""

_NUMBERS_MAX = 1 << 24
"""How many numbers of a batch are collected before they become a table."""

BUDGET = 1_000_000
"""How many steps the walk for one pattern may take in one event."""

STEPS_OF_PYTHON = 10
"""For how many steps it counts when Python has to decide about a mapping."""


class _Walk(NamedTuple):
    """A walk of an event through a part: what it found, also for queries, and the subscriptions that it gave up."""

    arrival: Arrival
    walked: Walked
    cores: Cores
    given_up: set[int]

    def give_up(self, part: Part, numbers: set[int]) -> None:
        """Note that subscriptions are over budget."""
        self.given_up.update(numbers)
        self.arrival.over_budget.update(part.holding[number].id for number in numbers if not part.gone[number])


def _decidable(each: Candidates) -> Candidates:
    """Return the candidates; those of whose cores the index is not sure are to be answered from the whole event."""
    cores = each.cores
    unsure = set(cores.subscription[cores.is_open].tolist())
    if not unsure:
        return each
    kept = cores.only(~np.isin(cores.subscription, [*unsure]))
    return Candidates(each.arrival, kept, sorted({*each.whole, *unsure}))


class Compiled(Indexed):
    """Matches events against a shared index. Gives the answers of the naive algorithm.

    A subscription with a pattern that needs more than `budget` steps in an event gets no answer for that event; its id
    is then among `over_budget`. That, and `visits`, the number of steps made, always speak of the last event. The
    `clock` only measures what residuals cost. Not to be used by two threads at once.
    """

    def __init__(
        self, entailment: Entailment, *, budget: int = BUDGET, clock: Callable[[], float] = perf_counter
    ) -> None:
        self._index = Index(entailment)
        self._entailment = entailment
        self._budget = budget
        self._open_max = budget // STEPS_OF_PYTHON
        self._clock = clock
        self._plans = Plans(self._index.concepts)
        self._queries: WeakKeyDictionary[Part, Queries] = WeakKeyDictionary()
        self._residual_seconds: defaultdict[str, float] = defaultdict(float)
        self._saved: Saved | None = None
        self.visits = 0

    @classmethod
    def open(cls, directory: Path, entailment: Entailment, *, verify: bool = True) -> Self:
        """Return the algorithm with the subscriptions of a stored index; see `storage.load` for what is refused."""
        algorithm = cls(entailment)
        algorithm._index, algorithm._saved = load(directory, entailment, verify=verify)
        return algorithm

    def continues(self, saved: Saved | None) -> None:
        """Let the next save replace the version of a directory that holds the same subscriptions."""
        self._saved = saved

    def save(self, directory: Path) -> None:
        self._saved = save(self._index, directory, self._saved)

    @property
    def standing(self) -> Mapping[str, Subscription]:
        return self._index

    def subscribe(self, subscription: Subscription) -> None:
        check_size(subscription)
        self._index.add(subscription)

    def unsubscribe(self, id: str) -> None:
        self._index.remove(id)
        self._residual_seconds.pop(id, None)

    def merge(self) -> None:
        self._index.merge()

    def costs(self) -> pa.Table:
        self._index.flush()
        return pa.concat_tables([COSTS.empty_table(), *map(self._costs, self._index.parts)])

    def _costs(self, part: Part) -> pa.Table:
        standing = np.flatnonzero(~part.gone)
        visits, size = part.costs()
        ids = part.holding.ids(standing)
        seconds = [self._residual_seconds.get(each, 0.0) for each in ids]
        columns = [ids, visits[standing], part.matches[standing], size[standing].astype(np.int64), seconds]
        return pa.table([pa.array(column) for column in columns], schema=COSTS)

    @property
    def size(self) -> int:
        """How many bytes the index takes."""
        return sum(array.nbytes for part in self._index.parts for array in part.segment)

    def arrive(self, event: Event) -> Arrival:
        """Return the event in numbers, closed under the ontology."""
        self._index.flush()
        return Arrival.of(event, self._index)

    def match(self, event: Event) -> Iterator[Match]:
        return self.answers(self.arrive(event))

    def answers(self, arrival: Arrival) -> Iterator[Match]:
        """Do what `match` does, for an event that is in numbers already."""
        with self._speaking_of([arrival]):
            found = [match for part in self._index.parts for match in self._matches(part, arrival)]
        yield from found

    @contextmanager
    def _speaking_of(self, arrivals: Sequence[Arrival]) -> Iterator[None]:
        """Count anew what events cost; what is said of the last one is said of the algorithm afterwards."""
        for arrival in arrivals:
            arrival.over_budget, arrival.visits = set(), 0
        yield
        self.over_budget, self.visits = frozenset(arrivals[-1].over_budget), arrivals[-1].visits

    def _matches(self, part: Part, arrival: Arrival) -> list[Match]:
        """Return the matches of an event, in the order of subscriptions."""
        matches, candidates = self._candidates(part, [self._walk(part, arrival)])
        matches += self._ask(part, candidates, Asker.matches)
        numbers = [number for _, number, _ in matches]
        part.matches[numbers] += 1
        return [match for *_, match in sorted(matches, key=itemgetter(1))]

    def _candidates(
        self, part: Part, walks: Sequence[_Walk], *, objects_only: bool = False
    ) -> tuple[list[MatchOf], list[Candidates]]:
        """Return the matches of what is no query, and the queries that may match; see `_answering` for the rest."""
        matches, candidates = [], []
        for event, walk in enumerate(walks):
            whole = []
            for number, bindings in self._answering(part, walk, objects_only=objects_only):
                if part.kind[number] >= CORE_DECIDES:
                    whole.append(number)
                elif (match := self._match(part, number, walk.arrival, bindings)) is not None:
                    matches.append((event, number, match))
            cores = walk.cores
            if walk.given_up:
                cores = cores.only(~np.isin(cores.subscription, [*walk.given_up]))
            candidates.append(Candidates(walk.arrival, cores, whole))
        return matches, candidates

    def _ask(self, part: Part, candidates: list[Candidates], ask: Callable[[Asker, Group], list[T]]) -> list[T]:
        """Return what queries answer."""
        candidates = [_decidable(each) for each in candidates]
        if not any(len(each.cores.place) or each.whole for each in candidates):
            return []
        first = candidates[0].arrival
        facts = first.facts() if len(candidates) == 1 else first.facts_of([each.arrival for each in candidates])
        asker, found = Asker(candidates, self._fail), []
        for group in self._queries_of(part).groups(candidates, facts, self._fail):
            start = self._clock()
            found += ask(asker, group)
            seconds = (self._clock() - start) / len(group.queries)
            for query in group.queries:
                self._residual_seconds[query.id] += seconds
        return found

    def _labels(self) -> list[str]:
        """Return the names that the answers of queries have numbers of."""
        return list(self._plans.labels)

    def _fail(self, arrival: Arrival, subscription_id: str, error: Exception) -> None:
        """Note that a subscription failed on an event."""
        arrival.over_budget.add(subscription_id)
        warn_of(subscription_id, arrival.id, error)

    def _queries_of(self, part: Part) -> Queries:
        queries = self._queries.get(part)
        if queries is None or queries.plans.concepts is not self._index.concepts:
            if self._plans.concepts is not self._index.concepts:
                self._plans = Plans(self._index.concepts)
            queries = self._queries[part] = Queries(part, self._plans)
        return queries

    def _answering(self, part: Part, walk: _Walk, *, objects_only: bool) -> list[tuple[int, list[Binding]]]:
        """Return who answers an event, in order, with the answers; those of a query are still to be found.

        Left out are queries whose cores the walk wrote down and, with `objects_only`, subscriptions of kind BY_ROWS.
        """
        arrival, walked = walk.arrival, walk.walked
        undecided = walked.given_up | part.open_beyond(walked, self._open_max)
        # Of these nobody asks more than that there is an answer.
        once = set(part.standing(walked.patterns).tolist())
        bindings: defaultdict[int, list[Binding]] = defaultdict(list)
        if (part.has_objects or not objects_only) and (walk.cores.others or not part.has_queries):
            mappings = Mappings(part, arrival)
            for rows in part.rows(walked.numbers, objects_only=objects_only):
                number = int(part.subscription_of[rows.pattern])
                if part.asks_once[rows.pattern]:
                    if number not in once and self._exist(mappings, rows, undecided):
                        once.add(number)
                elif rows.pattern not in undecided:
                    try:
                        bindings[number] += mappings.bindings(rows)
                    except LimitError:
                        undecided.add(rows.pattern)
        for number in once:
            bindings[number].insert(0, Binding())
        given_up = {
            int(part.subscription_of[pattern])
            for pattern in undecided
            if not (part.asks_once[pattern] and part.subscription_of[pattern] in once)
        }
        walk.give_up(part, given_up)
        return sorted((number, each) for number, each in bindings.items() if each and number not in given_up)

    def _exist(self, mappings: Mappings, rows: Rows, undecided: set[int]) -> bool:
        """Say whether one of the rows is found to hold; note it when that would take too long."""
        found = mappings.exist(rows, self._open_max)
        if found is None:
            undecided.add(rows.pattern)
        return found is True

    def match_ids(self, event: Event) -> list[str]:
        return self.ids(self.arrive(event))

    def ids(self, arrival: Arrival) -> list[str]:
        """Do what `match_ids` does, for an event that is in numbers already."""
        with self._speaking_of([arrival]):
            return [each for part in self._index.parts for each in part.holding.ids(self._found(part, [arrival])[0])]

    def match_batch(self, batch: Batch, *, bindings: bool, encoded: bool = False) -> BatchResult:
        self._index.flush()
        collected = Collected(batch)
        tables, answers = [], self._new_answers(bindings, encoded)
        taken: list[int] = []
        for arrivals in self._arrivals(batch, collected):
            taken += arrivals
            together = list(arrivals.values())
            with self._speaking_of(together):
                if isinstance(answers, Columns):
                    self._answer(together, answers)
                else:
                    found = [self._found(part, together) for part in self._index.parts]
                    for arrival, *numbers in zip(together, *found, strict=True):
                        answers.add(arrival, numbers)
            for row, arrival in arrivals.items():
                collected.give_up(row, arrival.over_budget)
            if answers.size > _NUMBERS_MAX:
                tables.append(self._table(answers, collected, taken))
                answers, taken = self._new_answers(bindings, encoded), []
        tables.append(self._table(answers, collected, taken))
        return collected.result(pa.concat_tables(tables))

    def _arrivals(self, batch: Batch, collected: Collected) -> Iterator[dict[int, Arrival]]:
        """Yield the events of a batch by row, as many at once as are matched together."""
        together: dict[int, Arrival] = {}
        vertices = 0
        for row in range(len(batch)):
            try:
                arrival = Arrival.from_row(batch, row, self._index)
            except OntosubError as error:
                collected.reject(row, error)
                continue
            together[row] = arrival
            vertices += len(arrival.encoded.graph.vertices)
            if len(together) == _TOGETHER_MAX or vertices > _VERTICES_MAX:
                yield together
                together, vertices = {}, 0
        if together:
            yield together

    def _table(self, answers: Columns | Found, collected: Collected, taken: list[int]) -> pa.Table:
        """Return the answers to the rows that were taken; note who turns out to be over budget only now."""
        table = answers.table()
        for event, subscription_id in answers.exceeding if isinstance(answers, Columns) else ():
            collected.give_up(taken[event], {subscription_id})
            if event == len(taken) - 1:
                self.over_budget |= {subscription_id}
        return table

    def _new_answers(self, bindings: bool, encoded: bool) -> Columns | Found:
        parts = self._index.parts
        if bindings:
            return Columns(parts, self._index.dictionary, self._labels, encoded=encoded)
        return Found(parts, encoded=encoded)

    def _answer(self, arrivals: Sequence[Arrival], columns: Columns) -> None:
        """Match events with answers as columns, but for what needs objects."""
        first = len(columns.arrivals)
        columns.arrivals += arrivals
        for number, part in enumerate(self._index.parts):
            walks = [self._walk(part, arrival) for arrival in arrivals]
            matches, candidates = self._candidates(part, walks, objects_only=True)
            for each in (*matches, *self._ask(part, candidates, Asker.columns)):
                columns.add(number, first, each)
            for event, walk in enumerate(walks, first):
                walk.give_up(part, too_long(part, walk.arrival, walk.walked.numbers, BYTES_MAX))
                columns.rows(number, event, walk.walked.numbers, walk.given_up)

    def _found(self, part: Part, arrivals: Sequence[Arrival]) -> list[Array]:
        """Return the subscriptions of a part that each event matches."""
        found, candidates = [], []
        for arrival in arrivals:
            walk = self._walk(part, arrival, every=False)
            walked = walk.walked
            numbers, undecided = part.standing(walked.patterns), set(walked.given_up)
            cores = walk.cores
            known = set(numbers.tolist())
            if cores.others or (len(walked.numbers) and not part.has_queries):
                mappings = Mappings(part, arrival)
                for rows in part.rows(walked.numbers):
                    number = int(part.subscription_of[rows.pattern])
                    if number not in known and self._exist(mappings, rows, undecided):
                        known.add(number)
                numbers = np.array(sorted(known), np.int32)
            if undecided:
                # Who is found needs no more.
                walk.give_up(part, set(part.subscription_of[list(undecided)].tolist()) - known)
            is_decided = part.kind[numbers] != RESIDUAL_DECIDES
            settled = known | walk.given_up
            if not settled.isdisjoint(cores.subscription.tolist()):
                cores = cores.only(~np.isin(cores.subscription, [*settled]))
            candidates.append(Candidates(arrival, cores, numbers[~is_decided].tolist()))
            found.append(numbers[is_decided])
        if part.has_queries:
            answered: list[list[int]] = [[] for _ in arrivals]
            for event, number in self._ask(part, candidates, Asker.matching):
                answered[event].append(number)
            found = [
                np.sort(np.append(each, more).astype(np.int32)) for each, more in zip(found, answered, strict=True)
            ]
        for numbers in found:
            part.matches[numbers] += 1
        return found

    def _walk(self, part: Part, arrival: Arrival, *, every: bool = True) -> _Walk:
        walked = part.walk(arrival.encoded.graph, every=every, budget=self._budget)
        arrival.visits += walked.visits
        return _Walk(arrival, walked, part.cores(walked.numbers) if part.has_queries else NO_CORES, set())

    def _match(self, part: Part, number: int, arrival: Arrival, bindings: list[Binding]) -> Match | None:
        """Return the match of a subscription; None when there is none, or when it costs too much to tell."""
        subscription = part.holding[number]
        try:
            return _match_of_objects(subscription, arrival, bindings)
        except Exception as error:
            self._fail(arrival, subscription.id, error)
            return None


def _match_of_objects(subscription: Subscription, arrival: Arrival, bindings: list[Binding]) -> Match | None:
    budget = Budget()
    for answer in bindings:
        budget.hold(answer_bytes(answer))
    return match_of(subscription, arrival, bindings, budget)
