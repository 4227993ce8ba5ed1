"""An ontology and subscriptions for the folder."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

from ontosub import Ontology, Subscription

PREFIX = "PREFIX : <http://example.org/auction#>\n"
RDFS = "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"


@pytest.fixture(scope="session")
def auction() -> Ontology:
    return Ontology.read(PREFIX + RDFS + ":Notebook rdfs:subClassOf :Computer . :price a rdfs:Property .", format="ttl")


@pytest.fixture(scope="session")
def cheap() -> Subscription:
    return Subscription.parse(PREFIX + "SELECT ?x { ?x a :Computer ; :price ?p FILTER (?p < 400) }", id="cheap")


@pytest.fixture(scope="session")
def computers() -> Subscription:
    return Subscription.parse(PREFIX + "SELECT ?x { ?x a :Computer }", id="computers")


@pytest.fixture
def offers(spark: SparkSession) -> DataFrame:
    """Two events and a payload that is none, with columns of the user's own."""
    rows = [
        ("e1", "text/turtle", bytearray(f"{PREFIX} :a a :Notebook ; :price 350 .".encode()), 1, ["x"]),
        ("e2", "text/turtle", bytearray(f"{PREFIX} :b a :Computer ; :price 500 .".encode()), 2, None),
        ("e3", "text/turtle", bytearray(b"this is no Turtle"), 3, []),
    ]
    columns = "event_id string, content_type string, payload binary, `kafka.offset` int, tags array<string>"
    return spark.createDataFrame(rows, columns)
