"""Judges implementations on generated SPARQL cases: every way to ask must give the same answers."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyoxigraph import BlankNode, CanonicalizationAlgorithm, Dataset, Literal, NamedNode, Quad
from sparql_cases import Cases, Compare, Query

from ontosub import Event, Match, Matcher, Ontology, OntosubError, Subscription
from ontosub.matching.batch import Batch
from ontosub.model.errors import SubscriptionFault

FORMAT = "application/n-triples"
"""What payloads are in. The events with named graphs are read by us: as a payload, each graph would be an event."""
_SEEN = "urn:seen:"


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that two ways to ask answer differently, or that one of them does not survive."""

    category: str
    seed: int
    query: str
    event: str = ""
    detail: str = ""

    def __str__(self) -> str:
        event = f"\n  event:\n    {self.event.strip().replace(chr(10), chr(10) + '    ')}" if self.event else ""
        return f"{self.category}, seed {self.seed}\n  query: {self.query}{event}\n  {self.detail}"


@dataclass(slots=True)
class Verdict:
    """What became of some cases."""

    cases: int = 0
    answered: int = 0
    """Cases with at least one answer."""
    over_budget: int = 0
    failures: list[Failure] = field(default_factory=list)

    def add(self, other: Verdict) -> None:
        """Count the other's cases as well."""
        self.cases += other.cases
        self.answered += other.answered
        self.over_budget += other.over_budget
        self.failures += other.failures

    def report(self, most: int = 5) -> str:
        """Return how many failures there are in each category, and the first few of them."""
        counted = Counter(failure.category for failure in self.failures)
        lines = [f"{count:6} {category}" for category, count in counted.most_common()]
        return "\n".join(
            [f"{len(self.failures)} failures in {self.cases} cases", *lines, *map(str, self.failures[:most])]
        )


def judge(drawn: Cases) -> Verdict:
    """Return whether all ways to ask agree on the cases. A fault of ours is an error: it must not pass for a limit."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", SubscriptionFault)
        return _Trial(drawn).run()


class _Read(Batch):
    """A table of events that have been read already."""

    def __init__(self, events: Sequence[Event]) -> None:
        nothing = [""] * len(events)
        ids = [event.id for event in events]
        super().__init__(pa.table({"event_id": ids, "content_type": nothing, "payload": [b""] * len(events)}))
        self._events = events

    def is_read(self, row: int) -> bool:
        return True

    def event(self, row: int) -> Event:
        return self._events[row]


class _Trial:
    def __init__(self, drawn: Cases) -> None:
        self._cases = drawn
        self._verdict = Verdict(cases=len(drawn))
        self._ontology = Ontology.read(drawn.ontology, format="application/n-triples")
        self._subscriptions: dict[str, Subscription] = {}
        self._queries = {f"q{number}": query for number, query in enumerate(drawn.queries)}

    def run(self) -> Verdict:
        """Ask all queries about all events, in every way."""
        events = [self._event(number, text) for number, text in enumerate(self._cases.events)]
        self._refuse()
        try:
            self._ask(self._queries, events)
        except Exception:  # whatever it is, the query that raises it is to be named
            for name, query in self._queries.items():
                self._ask_alone(name, query, events)
        return self._verdict

    def _event(self, number: int, text: str) -> Event:
        return Event.read(text, "application/n-quads", id=f"e{number}", dataset=True)

    def _refuse(self) -> None:
        """Take out the queries that are refused: all follow the specification."""
        for name, query in list(self._queries.items()):
            try:
                self._subscriptions[name] = Subscription.parse(query.text, "sparql", id=name)
            except OntosubError as error:
                self._fail("refused", query, detail=str(error).strip().splitlines()[0])
                del self._queries[name]

    def _ask_alone(self, name: str, query: Query, events: Sequence[Event]) -> None:
        try:
            self._ask({name: query}, events)
        except OntosubError as error:
            self._fail(f"refused late, {type(error).__name__}", query, detail=" ".join(str(error).split()))
        except Exception as error:  # nothing may be raised while matching
            self._fail(f"raises {type(error).__name__}", query, detail=repr(error)[:300])

    def _matcher(self, algorithm: str, queries: Mapping[str, Query]) -> Matcher:
        matcher = Matcher(self._ontology, algorithm)
        for name in queries:
            # What a matcher says about the words of a subscription is not judged here, and takes most of the time.
            matcher._algorithm.subscribe(self._subscriptions[name])
        return matcher

    def _ask(self, queries: Mapping[str, Query], events: Sequence[Event]) -> None:
        naive, compiled = self._matcher("naive", queries), self._matcher("compiled", queries)
        expected, skipped = list[dict[str, Match]](), list[frozenset[str]]()
        for event, text in zip(events, self._cases.events, strict=True):
            true = _by_id(naive.match(event))
            given_up = naive.over_budget
            found = _by_id(compiled.match(event))
            given_up |= compiled.over_budget
            ids = compiled.match_ids(event)
            given_up |= compiled.over_budget
            self._verdict.over_budget += len(given_up)
            self._verdict.answered += len(true)
            blanks = _blanks(event)
            for name, query in queries.items():
                if name not in given_up:
                    self._same("match", query, text, true.get(name), found.get(name), blanks)
                    if (name in true) != (name in ids):
                        self._fail("match_ids", query, text, f"naive {name in true}, match_ids {name in ids}")
            expected.append(true)
            skipped.append(given_up)
        for algorithm, matcher in (("naive", naive), ("compiled", compiled)):
            for bindings in (True, False):
                self._batch(f"{algorithm} match_batch", matcher, queries, events, expected, skipped, bindings=bindings)

    def _batch(
        self,
        way: str,
        matcher: Matcher,
        queries: Mapping[str, Query],
        events: Sequence[Event],
        expected: Sequence[Mapping[str, Match]],
        skipped: Sequence[frozenset[str]],
        *,
        bindings: bool,
    ) -> None:
        texts = self._cases.events
        plain = [number for number, event in enumerate(events) if not event.named_graphs]
        others = [event for event in events if event.named_graphs]
        columns = {
            "event_id": [f"e{number}" for number in plain],
            "content_type": [FORMAT] * len(plain),
            "payload": [texts[number].encode() for number in plain],
        }
        tables = pa.table(columns) if plain else None, _Read(others) if others else None
        rows = [
            row
            for table in tables
            if table is not None
            for row in matcher.match_batch(table, bindings=bindings).matches.to_pylist()
        ]
        found: dict[tuple[str, str], Any] = {(row["event_id"], row["subscription_id"]): row for row in rows}
        for number, (text, true, given_up) in enumerate(zip(texts, expected, skipped, strict=True)):
            for name, query in queries.items():
                row = found.get((f"e{number}", name))
                if name in given_up:
                    continue
                if (row is None) != (name not in true):
                    self._fail(f"{way}, which match", query, text, f"naive {name in true}, table {row is not None}")
                elif bindings and row is not None and query.compare is not Compare.GRAPH:
                    given = [dict(binding) for binding in row["bindings"]]
                    wanted = [_texts(binding) for binding in true[name].bindings]
                    if not same_rows(wanted, given, query.compare):
                        self._fail(f"{way}, bindings", query, text, _difference(wanted, given))

    def _same(
        self, way: str, query: Query, event: str, true: Match | None, found: Match | None, blanks: frozenset[str]
    ) -> None:
        if (true is None) != (found is None):
            self._fail(f"{way}, whether", query, event, f"naive {true is not None}, compiled {found is not None}")
        elif true is None or found is None:
            return
        elif query.compare is Compare.GRAPH:
            if not same_graph(true.graph or (), found.graph or (), blanks):
                self._fail(f"{way}, graph", query, event, f"naive {true.graph}, compiled {found.graph}")
        else:
            wanted, given = ([_texts(binding) for binding in each.bindings] for each in (true, found))
            if not same_rows(wanted, given, query.compare):
                self._fail(f"{way}, bindings", query, event, _difference(wanted, given))

    def _fail(self, category: str, query: Query, event: str = "", detail: str = "") -> None:
        self._verdict.failures.append(Failure(category, self._cases.seed, query.text, event, detail))


def same_rows(one: Sequence[Mapping[str, str]], other: Sequence[Mapping[str, str]], compare: Compare) -> bool:
    """Say whether two lists of answers are equal as far as the query determines them."""
    if compare is Compare.COUNT:
        return len(one) == len(other)
    counted = _counted(one), _counted(other)
    if compare is Compare.SET:
        counted = Counter(set(counted[0])), Counter(set(counted[1]))
    if counted[0] == counted[1]:
        return True
    made = any(text.startswith("_:") for row in [*one, *other] for text in row.values())
    return made and len(one) == len(other) and _isomorphic(_as_statements(counted[0]), _as_statements(counted[1]))


def same_graph(one: Iterable[Any], other: Iterable[Any], blanks: frozenset[str]) -> bool:
    """Say whether two graphs are equal up to the names of blank nodes that are not the event's own."""
    first, second = set(one), set(other)
    return first == second or _isomorphic(_named(first, blanks), _named(second, blanks))


def _counted(rows: Iterable[Mapping[str, str]]) -> Counter[frozenset[tuple[str, str]]]:
    return Counter(
        frozenset((name, text) for name, text in row.items() if not name.startswith("loose")) for row in rows
    )


def _as_statements(rows: Counter[frozenset[tuple[str, str]]]) -> list[Quad]:
    """Return a graph that is isomorphic to another one exactly when the rows are equal up to renaming."""
    quads = []
    for number, row in enumerate(rows.elements()):
        subject = BlankNode(f"row{number}")
        quads.append(Quad(subject, NamedNode("urn:row"), Literal("")))
        for name, text in row:
            object_ = BlankNode(text[2:]) if text.startswith("_:") else Literal(text)
            quads.append(Quad(subject, NamedNode(f"urn:column:{name}"), object_))
    return quads


def _named(triples: Iterable[Any], blanks: frozenset[str]) -> list[Quad]:
    def term(value: Any) -> Any:
        return NamedNode(_SEEN + value.value) if isinstance(value, BlankNode) and value.value in blanks else value

    return [Quad(term(each.subject), each.predicate, term(each.object)) for each in triples]


def _isomorphic(one: list[Quad], other: list[Quad]) -> bool:
    first, second = Dataset(one), Dataset(other)
    for dataset in (first, second):
        dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return set(first) == set(second)


def _texts(binding: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(term) for name, term in binding.items()}


def _blanks(event: Event) -> frozenset[str]:
    quads = [*event.graph, *event.named_graphs]
    return frozenset(
        term.value for each in quads for term in (each.subject, each.object) if isinstance(term, BlankNode)
    )


def _by_id(matches: Iterable[Match]) -> dict[str, Match]:
    return {match.subscription_id: match for match in matches}


def _difference(wanted: Sequence[Mapping[str, str]], given: Sequence[Mapping[str, str]]) -> str:
    missing, extra = _counted(wanted) - _counted(given), _counted(given) - _counted(wanted)
    return f"{len(wanted)} and {len(given)} answers; missing: {_shown(missing)}; extra: {_shown(extra)}"


def _shown(rows: Counter[frozenset[tuple[str, str]]]) -> str:
    return "; ".join(f"{count} × {dict(sorted(row))}" for row, count in list(rows.items())[:3])
