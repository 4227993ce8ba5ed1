"""Sharded is unsharded is naive: the same matches, answers and dead letters, however subscriptions are spread."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amounts import at_most
from generators import CLASSES, INDIVIDUALS, PROPERTIES, events, ontologies, ops_patterns, patterns
from ontosub import Matcher, Subscription
from ontosub.formats import write_event
from ontosub.model.terms import OWL
from ontosub.spark.answering import matched
from ontosub.spark.passing import Made
from ontosub.spark.schemas import ARROW_EVENTS
from ontosub.spark.sharding import routing
from ontosub.spark.sharding.router import router_of
from ontosub.spark.sharding.routing import SHARD, payloads_in, routed
from ontosub.spark.sharding.sharded_index import ShardedIndex
from ontosub.spark.sharding.shards import Shards, shard_index

pytestmark = [pytest.mark.xdist_group("compiled"), pytest.mark.filterwarnings("ignore::ontosub.OntosubWarning")]

FORMATS = ["application/n-triples", "text/turtle", "application/n-quads", "application/trig"]

class_ = st.sampled_from([*CLASSES, OWL["Thing"]])
property_ = st.sampled_from(PROPERTIES)
individual = st.sampled_from(INDIVIDUALS)

texts = st.one_of(
    st.builds("SELECT * {{ ?a a {} OPTIONAL {{ ?a {} ?b }} }}".format, class_, property_),
    st.builds("SELECT * {{ ?a {} ?b OPTIONAL {{ ?b a {} }} }}".format, property_, class_),
    st.builds("SELECT * {{ {{ ?a a {} }} UNION {{ ?b a {} ; {} ?c }} }}".format, class_, class_, property_),
    st.builds("SELECT * {{ {{ ?a a {} }} UNION {{ ?b {} ?c }} }}".format, class_, property_),
    st.builds("ASK {{ ?a a {} FILTER NOT EXISTS {{ ?a {} ?b }} }}".format, class_, property_),
    st.builds("SELECT ?a {{ ?a a {} MINUS {{ ?a a {} }} }}".format, class_, class_),
    st.builds("SELECT * {{ {{ ?x ?y ?z }} UNION {{ }} ?a a {} }}".format, class_),
    st.builds("ASK {{ FILTER NOT EXISTS {{ ?a a {} }} }}".format, class_),
    st.builds("SELECT ?t {{ {} a ?t . ?a ?p {} }}".format, individual, individual),
    st.builds("SELECT (COUNT(*) AS ?n) {{ ?a a {} }}".format, class_),
    st.builds("SELECT DISTINCT ?c {{ ?a {} ?b . ?b a ?c }}".format, property_),
    st.builds("SELECT * {{ ?a {}/{}* ?b . ?b a {} }}".format, property_, property_, class_),
    st.builds("SELECT * {{ ?a {} ?v . ?a a {} FILTER (?v < 5 || ?v = 'red') }}".format, property_, class_),
    st.builds("SELECT ?g {{ GRAPH ?g {{ ?a ?p ?b }} }}".format),
)
anything = st.one_of(patterns(), patterns(), ops_patterns(), texts)


def subscription_of(number: int, wanted) -> Subscription:
    if isinstance(wanted, str):
        return Subscription.parse(wanted, id=f"s{number}")
    return Subscription(f"s{number}", (wanted,), distinct=number % 3 == 2)


def unsharded(ontology, subscriptions, algorithm: str) -> Matcher:
    matcher = Matcher(ontology, algorithm)
    for subscription in subscriptions:
        matcher.subscribe(subscription)
    return matcher


def table_of(published) -> pa.Table:
    """Return payloads in several formats: with and without ids, several events in one, and some that are no events."""
    rows = [
        {
            "event_id": None if number % 4 == 3 else f"e{number}",
            "content_type": FORMATS[number % len(FORMATS)],
            "payload": write_event(event, FORMATS[number % len(FORMATS)]),
        }
        for number, event in enumerate(published)
    ]
    rows.insert(1, {"event_id": "bad", "content_type": "text/turtle", "payload": b"<urn:a> <urn:p1> <urn:b ."})
    rows.append({"event_id": "bad too", "content_type": "application/n-triples", "payload": b"nonsense"})
    rows.append({"event_id": None, "content_type": None, "payload": None})
    several = [b"<urn:g%d> { %s }" % (at, write_event(event, "nt")) for at, event in enumerate(published[:3])]
    rows.append({"event_id": "several", "content_type": "application/trig", "payload": b"".join(several)})
    # What is said of a graph from outside leaves its home alone, and N-Triples cannot say so.
    several.append(b"<urn:g0> <urn:p0> <urn:i0> .")
    rows.append({"event_id": "described", "content_type": "application/trig", "payload": b"".join(several)})
    return pa.Table.from_pylist(rows, schema=ARROW_EVENTS)


def sharded(index: ShardedIndex, table: pa.Table, options, *, bindings: bool) -> Made:
    """Do what the tasks of a job do: find the ways, send rows to shards, match there; rows are those of `table`."""
    ways = routed(router_of(index.directory, index.generations), table, options)
    assert payloads_in(ways.results) == len(table)
    make = index.matching(options, bindings=bindings)
    parts = [ways._replace(results=make(ways.results.slice(0, 0)).results, sources=pa.array([], pa.int64()))]
    for shard in range(len(index.generations)):
        mine = pa.array([row for row, each in enumerate(ways.results[SHARD].to_pylist()) if each == shard], pa.int64())
        made = make(ways.results.take(mine))
        rows = ways.sources.take(mine)
        parts.append(made._replace(sources=rows.take(made.sources), reject_sources=rows.take(made.reject_sources)))
    results, *others = zip(*parts, strict=True)
    return Made(pa.concat_tables(results, promote_options="default"), *map(pa.concat_arrays, others))


def told(made: Made) -> tuple[Counter, Counter]:
    """Return matches, with how often each answer is given and the row that they are from, and dead letters."""
    matches = Counter(
        (row["event_id"], row["subscription_id"], source, _counted(row.get("bindings", [])))
        for row, source in zip(made.results.to_pylist(), made.sources.to_pylist(), strict=True)
    )
    rejects = Counter(
        (tuple(each.values()), source)
        for each, source in zip(made.rejects.to_pylist(), made.reject_sources.to_pylist(), strict=True)
    )
    return matches, rejects


def _counted(bindings) -> frozenset:
    return frozenset(Counter(frozenset(_plain(each)) for each in bindings).items())


def _plain(binding):
    """Leave out the labels of blank nodes: each reading of a payload may give others."""
    return ((name, "_:" if term.startswith("_:") else term) for name, term in binding)


def assert_alike(index: ShardedIndex, ontology, subscriptions, table: pa.Table) -> None:
    compiled, naive = (unsharded(ontology, subscriptions, name) for name in ("compiled", "naive"))
    for options in (None, {}, {"": {}}):
        for bindings in (True, False):
            expected = told(matched(compiled, table, options, bindings=bindings))
            assert told(sharded(index, table, options, bindings=bindings)) == expected
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(routing, "WRITTEN_MAX", 0)  # all payloads go on as they came
                assert told(sharded(index, table, options, bindings=bindings)) == expected
        assert told(matched(naive, table, options, bindings=True)) == told(
            matched(compiled, table, options, bindings=True)
        )


@settings(max_examples=at_most(60, quick=20), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    ontologies,
    st.lists(anything, min_size=1, max_size=10),
    st.lists(events, min_size=1, max_size=6),
    st.integers(2, 5),
)
def test_sharded_is_unsharded_is_naive(ontology, wanted, published, shards):
    subscriptions = [subscription_of(number, each) for number, each in enumerate(wanted)]
    with TemporaryDirectory() as folder:
        index = shard_index(ontology, subscriptions, Path(folder, "shards"), shards=shards)
        assert_alike(index, ontology, subscriptions, table_of(published))


@pytest.mark.full
@pytest.mark.timeout(1_800)
@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    ontologies,
    st.lists(anything, min_size=1, max_size=16),
    st.lists(events, min_size=1, max_size=8),
    st.integers(1, 6),
)
def test_sharded_is_unsharded_hundreds_of_times(ontology, wanted, published, shards):
    test_sharded_is_unsharded_is_naive.hypothesis.inner_test(ontology, wanted, published, shards)


@settings(max_examples=at_most(20, quick=8), deadline=None, suppress_health_check=list(HealthCheck))
@given(ontologies, st.data(), st.lists(events, min_size=1, max_size=4), st.integers(2, 4))
def test_after_any_coming_and_going(ontology, data, published, shards):
    """Subscribing, unsubscribing, saving and reopening, in any order, leave the answers what they are."""
    with TemporaryDirectory() as folder:
        directory = Path(folder, "shards")
        book, standing = Shards(ontology, shards), {}
        for number in range(data.draw(st.integers(2, 10))):
            action = data.draw(st.sampled_from(["subscribe", "subscribe", "unsubscribe", "save", "reopen"]))
            if action == "subscribe":
                subscription = subscription_of(number, data.draw(anything))
                book.subscribe(subscription)
                standing[subscription.id] = subscription
            elif action == "unsubscribe" and standing:
                gone = data.draw(st.sampled_from(sorted(standing)))
                book.unsubscribe(gone)
                del standing[gone]
            else:
                book.save(directory)
                if action == "reopen":
                    book = Shards.open(directory, ontology)
            assert dict(book.subscriptions) == standing
        book.save(directory)
        assert_alike(ShardedIndex.open(directory), ontology, standing.values(), table_of(published))
