"""The compiled algorithm: events through the index, rows into answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ontosub.languages.sparql import query_of
from ontosub.matching.algorithm import COSTS, Indexed
from ontosub.matching.answers import answer_bytes, match_of
from ontosub.matching.batch import Batch, BatchResult, Collected
from ontosub.matching.compiled.columns import Columns, too_long
from ontosub.matching.compiled.events.encoded import EncodedEvent
from ontosub.matching.compiled.files.storage import Saved, load, save
from ontosub.matching.compiled.index.index import Index
from ontosub.matching.compiled.index.part import RESIDUAL_DECIDES, Part, Rows, Walked
from ontosub.matching.compiled.lane import Arrival, Found
from ontosub.matching.compiled.mappings import Mappings
from ontosub.matching.compiled.queries.plan import Plan, starts_with
from ontosub.matching.limits import check_size
from ontosub.matching.residual import context_of, match_of_query
from ontosub.model import Binding, Event, Match, Subscription
from ontosub.model.errors import LimitError, OntosubError
from ontosub.semantics import Entailment
from ontosub.semantics.budget import BYTES_MAX, Budget

Array = NDArray[Any]

PLANS_MAX = 20_000
"""How many queries are kept ready to be answered."""

_NUMBERS_MAX = 1 << 24
"""How many numbers of a batch are collected before they become a table."""

BUDGET = 1_000_000
"""How many steps the walk for one pattern may take in one event."""

STEPS_OF_PYTHON = 10
"""For how many steps it counts when Python has to decide about a mapping."""


class _Answering(NamedTuple):
    """What the answers of a subscription come from: bindings, or for a query the mappings of its core, if known."""

    part: Part
    number: int
    bindings: list[Binding]
    core: list[list[int]] | None = None


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
        self._plans: dict[str, Plan] = {}
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
        self._plans.pop(id, None)
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
        self.visits, self.over_budget = 0, frozenset()
        answering: list[_Answering] = []
        for part in self._index.parts:
            answering += self._answering(part, arrival, self._walk(part, arrival.encoded, every=True))[0]
        for each in answering:
            match = self._match(arrival, each)
            if match is not None:
                each.part.matches[each.number] += 1
                yield match

    def _answering(
        self, part: Part, arrival: Arrival, walked: Walked, *, objects_only: bool = False
    ) -> tuple[list[_Answering], set[int]]:
        """Return who answers an event, in order, with what the index knows of the answers; and who was given up.

        With `objects_only`, subscriptions of kind BY_ROWS are left out.
        """
        undecided = walked.given_up | part.open_beyond(walked, self._open_max)
        # Of these nobody asks more than that there is an answer.
        once = set(part.standing(walked.patterns).tolist())
        bindings: defaultdict[int, list[Binding]] = defaultdict(list)
        if part.has_objects or not objects_only:
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
        self._give_up(part, given_up)
        cores = part.cores(walked.numbers) if part.has_queries else {}
        found = [_Answering(part, number, each) for number, each in bindings.items() if each and number not in given_up]
        found += [_Answering(part, number, [], core) for number, core in cores.items() if number not in given_up]
        return sorted(found, key=attrgetter("number")), given_up

    def _exist(self, mappings: Mappings, rows: Rows, undecided: set[int]) -> bool:
        """Say whether one of the rows is found to hold; note it when that would take too long."""
        found = mappings.exist(rows, self._open_max)
        if found is None:
            undecided.add(rows.pattern)
        return found is True

    def _give_up(self, part: Part, numbers: set[int]) -> None:
        """Note that subscriptions are over budget."""
        self.over_budget |= {part.holding[number].id for number in numbers if not part.gone[number]}

    def match_ids(self, event: Event) -> list[str]:
        return self.ids(self.arrive(event))

    def ids(self, arrival: Arrival) -> list[str]:
        """Do what `match_ids` does, for an event that is in numbers already."""
        self.visits, self.over_budget = 0, frozenset()
        return [each for part in self._index.parts for each in part.holding.ids(self._found(part, arrival))]

    def match_batch(self, batch: Batch, *, bindings: bool, encoded: bool = False) -> BatchResult:
        self._index.flush()
        collected = Collected(batch)
        tables, answers = [], self._new_answers(bindings, encoded)
        taken: list[int] = []
        for row in range(len(batch)):
            try:
                arrival = Arrival.from_row(batch, row, self._index)
            except OntosubError as error:
                collected.reject(row, error)
                continue
            taken.append(row)
            self.visits, self.over_budget = 0, frozenset()
            if isinstance(answers, Columns):
                self._answer(arrival, answers)
            else:
                answers.add(arrival, [self._found(part, arrival) for part in self._index.parts])
            collected.give_up(row, self.over_budget)
            if answers.size > _NUMBERS_MAX:
                tables.append(self._table(answers, collected, taken))
                answers, taken = self._new_answers(bindings, encoded), []
        tables.append(self._table(answers, collected, taken))
        return collected.result(pa.concat_tables(tables))

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
        return Columns(parts, self._index.dictionary, encoded=encoded) if bindings else Found(parts, encoded=encoded)

    def _answer(self, arrival: Arrival, columns: Columns) -> None:
        """Match an event with answers as columns, but for what needs objects."""
        columns.add(arrival)
        for number, part in enumerate(self._index.parts):
            walked = self._walk(part, arrival.encoded, every=True)
            answering, given_up = self._answering(part, arrival, walked, objects_only=True)
            long = too_long(part, arrival, walked.numbers, BYTES_MAX)
            self._give_up(part, long)
            given_up |= long
            columns.rows(number, walked.numbers, given_up)
            for each in answering:
                match = self._match(arrival, each)
                if match is not None:
                    part.matches[each.number] += 1
                    columns.match(int(part.order[each.number]), match)

    def _found(self, part: Part, arrival: Arrival) -> Array:
        """Return the subscriptions of a part that the event matches."""
        walked = self._walk(part, arrival.encoded, every=False)
        numbers, undecided = part.standing(walked.patterns), set(walked.given_up)
        cores: dict[int, list[list[int]] | None] = {}
        if len(walked.numbers):
            cores = part.cores(walked.numbers) if part.has_queries else {}
            found, mappings = set(numbers.tolist()) | cores.keys(), Mappings(part, arrival)
            for rows in part.rows(walked.numbers):
                number = int(part.subscription_of[rows.pattern])
                if number not in found and self._exist(mappings, rows, undecided):
                    found.add(number)
            numbers = np.array(sorted(found), np.int32)
        if undecided:
            # Who is found needs no more.
            given_up = set(part.subscription_of[list(undecided)].tolist()) - set(numbers.tolist())
            self._give_up(part, given_up)
        if part.has_queries:
            # A core that is only a candidate decides nothing.
            is_asked = part.kind[numbers] == RESIDUAL_DECIDES
            is_asked |= np.isin(numbers, [number for number, core in cores.items() if core is None])
            asked = numbers[is_asked].tolist()
            answering = (_Answering(part, number, [], cores.get(number)) for number in asked)
            fails = [each.number for each in answering if self._match(arrival, each, once=True) is None]
            numbers = np.setdiff1d(numbers, fails, assume_unique=True)
        part.matches[numbers] += 1
        return numbers

    def _walk(self, part: Part, encoded: EncodedEvent, *, every: bool) -> Walked:
        walked = part.walk(encoded.graph, every=every, budget=self._budget)
        self.visits += walked.visits
        return walked

    def _match(self, arrival: Arrival, answering: _Answering, *, once: bool = False) -> Match | None:
        """Return the match of a subscription, with `once` perhaps not all of its answers.

        None when there is no match, or when it costs too much to tell.
        """
        part, number, bindings, core = answering
        subscription = part.holding[number]
        start = self._clock()
        try:
            if subscription.residual is None:
                return _match_of_objects(subscription, arrival, bindings)
            return self._answered(subscription, arrival, core, once)
        except Exception as error:
            self.give_up(subscription.id, arrival.id, error)
            return None
        finally:
            if subscription.residual is not None:
                self._residual_seconds[subscription.id] += self._clock() - start

    def _answered(
        self, subscription: Subscription, arrival: Arrival, core: list[list[int]] | None, once: bool
    ) -> Match | None:
        plan, budget = self._plans.get(subscription.id) or self._plan(subscription), Budget()
        answers = plan.answers(arrival.facts(), context_of(arrival, budget), core)
        if once:
            first = next(answers, None)
            return None if first is None else Match(subscription.id, arrival.id, [first], None, arrival.interval)
        return match_of_query(plan.query, subscription.id, arrival, answers, arrival.graph, budget)

    def _plan(self, subscription: Subscription) -> Plan:
        query, patterns = query_of(subscription.residual or ""), subscription.patterns
        plan = Plan(query, patterns[0] if starts_with(query, patterns) else None)
        if len(self._plans) >= PLANS_MAX:
            del self._plans[next(iter(self._plans))]
        self._plans[subscription.id] = plan
        return plan


def _match_of_objects(subscription: Subscription, arrival: Arrival, bindings: list[Binding]) -> Match | None:
    budget = Budget()
    for answer in bindings:
        budget.hold(answer_bytes(answer))
    return match_of(subscription, arrival, bindings, budget)
