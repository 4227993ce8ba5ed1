"""Spark gives the naive answers to generated queries of the whole SPARQL language."""

import pyarrow as pa
import pytest
from sparql_cases import Cases, Compare, cases
from sparql_judge import same_rows
from sparql_terms import Features

from ontosub import Matcher, Ontology, Subscription
from ontosub.model.errors import LanguageError
from ontosub.spark import match
from ontosub.spark.schemas import ARROW_EVENTS

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore::ontosub.OntosubWarning")]

FEATURES = Features(named_graphs=False)
"""A payload with named graphs would be several events."""


def matchers(drawn: Cases) -> tuple[Matcher, Matcher]:
    """Return a naive and a compiled matcher with the same queries."""
    ontology = Ontology.read(drawn.ontology, format="application/n-triples")
    naive, compiled = Matcher(ontology, "naive"), Matcher(ontology, "compiled")
    for number, query in enumerate(drawn.queries):
        subscription = Subscription.parse(query.text, "sparql", id=str(number))
        try:
            naive.subscribe(subscription)
        except LanguageError:
            continue  # the evaluation behind does not take it
        compiled.subscribe(subscription)
    return naive, compiled


@pytest.mark.parametrize("seed", [1, 2])
def test_spark_agrees(spark, seed):
    drawn = cases(seed, features=FEATURES)
    naive, compiled = matchers(drawn)
    rows = [
        {"event_id": f"e{number}", "content_type": "application/n-triples", "payload": text.encode()}
        for number, text in enumerate(drawn.events)
    ]
    table = pa.Table.from_pylist(rows, schema=ARROW_EVENTS)
    expected = {(row["event_id"], row["subscription_id"]): row for row in naive.match_batch(table).matches.to_pylist()}
    frame = spark.createDataFrame(table).repartition(2).transform(match(None, compiled))
    found = {(row["event_id"], row["subscription_id"]): row.asDict() for row in frame.collect()}
    assert found.keys() == expected.keys()
    assert len(found) > len(drawn) / 10
    for key, row in expected.items():
        query = drawn.queries[int(key[1])]
        if query.compare is not Compare.GRAPH:
            given, true = ([dict(each) for each in one["bindings"]] for one in (found[key], row))
            assert same_rows(true, given, query.compare), (seed, query.text, drawn.events[int(key[0][1:])])
