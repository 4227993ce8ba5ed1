"""Spark gives the matcher's answers, which are the naive ones, however rows are ordered and parted."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generators import events, ontologies, ops_patterns, patterns
from ontosub import Matcher, Subscription
from ontosub.formats import write_event
from ontosub.spark import accepted, decode, match, outcomes
from ontosub.spark.decoding import decoded
from ontosub.spark.finding import matched
from ontosub.spark.schemas import ARROW_EVENTS

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore::ontosub.OntosubWarning")]

FORMATS = ["application/n-triples", "text/turtle", "application/rdf+xml"]
found_patterns = st.lists(st.one_of(patterns(), ops_patterns()), min_size=1, max_size=6)
quick = settings(deadline=None, suppress_health_check=list(HealthCheck))


def matcher_of(ontology, patterns, algorithm: str) -> Matcher:
    matcher = Matcher(ontology, algorithm)
    for number, pattern in enumerate(patterns):
        matcher.subscribe(Subscription(f"s{number}", (pattern,)))
    return matcher


def table_of(published) -> pa.Table:
    rows = [
        {
            "event_id": f"e{number}",
            "content_type": FORMATS[number % len(FORMATS)],
            "payload": write_event(event, FORMATS[number % len(FORMATS)]),
        }
        for number, event in enumerate(published)
    ]
    return pa.Table.from_pylist(rows, schema=ARROW_EVENTS)


def answers(rows) -> dict:
    """Return, by event and subscription, how often each answer is given."""
    found = {
        (row["event_id"], row["subscription_id"]): Counter(frozenset(dict(each).items()) for each in row["bindings"])
        for row in rows
    }
    assert len(found) == len(rows)
    return found


@settings(quick, max_examples=5)
@given(ontologies, found_patterns, st.lists(events, min_size=8, max_size=16), st.randoms())
def test_spark_is_the_matcher_is_naive(spark, ontology, patterns, published, random):
    table = table_of(published)
    naive, compiled = (matcher_of(ontology, patterns, name) for name in ("naive", "compiled"))
    expected = answers(naive.match_batch(table).matches.to_pylist())
    assert answers(compiled.match_batch(table).matches.to_pylist()) == expected
    order = list(range(len(table)))
    random.shuffle(order)
    shuffled = table.take(pa.array(order)).append_column("row", pa.array(order))
    for frame in (
        spark.createDataFrame(table).repartition(3).transform(match(None, compiled)),
        spark.createDataFrame(shuffled)
        .coalesce(1)
        .transform(match(None, compiled))
        .where("event_id = concat('e', row)"),
        spark.createDataFrame(table).transform(decode()).transform(outcomes(None, compiled)).transform(accepted),
        spark.createDataFrame(table).transform(match(None, compiled, after=decode())),
    ):
        assert answers([row.asDict() for row in frame.collect()]) == expected


@settings(quick, max_examples=60)
@given(ontologies, found_patterns, st.lists(events, min_size=1, max_size=5))
def test_what_workers_run_gives_the_naive_answers(ontology, patterns, published):
    """The same without a JVM, and so more often: with and without decoding, rows by number instead of id."""
    table = table_of(published)
    naive, compiled = (matcher_of(ontology, patterns, name) for name in ("naive", "compiled"))
    expected = answers(naive.match_batch(table).matches.to_pylist())
    read = decoded(table, {"": {}})
    assert len(read.rejects) == 0
    assert read.sources.to_pylist() == list(range(len(table)))
    for given_, options in ((table, None), (table, {}), (read.results, None), (read.results, {})):
        made = matched(compiled, given_, options, bindings=True)
        assert answers(made.results.to_pylist()) == expected
        assert [f"e{row}" for row in made.sources.to_pylist()] == made.results["event_id"].to_pylist()
