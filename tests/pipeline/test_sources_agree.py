"""Wherever events come from, and in whichever order: the same subscribers are notified of the same events."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ontosub import Event, Matcher, Ontology, Subscription
from ontosub.event_log import EventLog
from ontosub.pipeline.config import Config
from ontosub.pipeline.running import Running
from ontosub.spark.schemas import ARROW_EVENTS
from servers.kafka_jars import NotFetched, connector_jars

pytest_plugins = ["servers.kafka"]
pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.timeout(900)]

COUNT, FILES = 60, 4
ONTOLOGY = """
@prefix : <urn:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Notebook rdfs:subClassOf :Computer . :Tablet rdfs:subClassOf :Computer . :Computer rdfs:subClassOf :Item .
:Lamp rdfs:subClassOf :Item . :brand rdfs:domain :Branded . :maker rdfs:subPropertyOf :brand .
"""
CSV_MAPPING = {
    "prefixes": {"": "urn:"},
    "id": "{+id}",
    "properties": [
        {"property": "rdf:type", "iri": "urn:{kind}"},
        {"property": ":price", "from": "price", "datatype": "xsd:integer"},
        {"property": ":maker", "from": "maker"},
    ],
}

Record = dict[str, Any]
"""An event as its fields; a missing one is None."""


@dataclass(frozen=True)
class Place:
    """Where events have been put: the source, how payloads are read, and what events are called that have no name."""

    source: Mapping[str, Any]
    events: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)


def records(random: Random) -> list[Record]:
    return [
        {
            "id": f"urn:e{number}",
            "kind": random.choice(["Notebook", "Tablet", "Computer", "Lamp"]),
            "price": random.randrange(20),
            "maker": random.choice(["acme", "apex", None]),
        }
        for number in range(COUNT)
    ]


def subscriptions(random: Random) -> dict[str, Subscription]:
    def parts() -> list[str]:
        kind = random.choice(["Notebook", "Computer", "Item", "Branded"])
        low, high = sorted(random.sample(range(20), 2))
        brand = f"?x <urn:brand> {random.choice(['?b', json.dumps('acme')])} ."
        price = f"?x <urn:price> ?p FILTER(?p >= {low} && ?p < {high})"
        return [f"?x a <urn:{kind}> .", *random.sample([brand, price], random.randrange(3))]

    texts = {f"s{number}": f"SELECT ?x {{ {' '.join(parts())} }}" for number in range(15)}
    return {name: Subscription.parse(text, id=name) for name, text in texts.items()}


def triples(record: Record, graph: str = "") -> str:
    node = f"_:{record['id'][4:]}"
    integer = "http://www.w3.org/2001/XMLSchema#integer"
    lines = [
        f"{node} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:{record['kind']}>",
        f'{node} <urn:price> "{record["price"]}"^^<{integer}>',
        *([f'{node} <urn:maker> "{record["maker"]}"'] if record["maker"] else []),
    ]
    return "".join(f"{line} {graph} .\n" for line in lines)


def row(record: Record) -> dict[str, object]:
    payload = triples(record).encode()
    return {"event_id": record["id"], "content_type": "application/n-triples", "payload": payload}


def answers(algorithm: str, rules: Mapping[str, Subscription], published: list[Record]) -> set[tuple[str, str]]:
    matcher = Matcher(Ontology.read(ONTOLOGY, format="text/turtle"), algorithm)
    for subscription in rules.values():
        matcher.subscribe(subscription)
    events = [Event.read(triples(record), "application/n-triples", id=record["id"]) for record in published]
    return {(found.subscription_id, found.event_id) for event in events for found in matcher.match(event)}


def in_files(
    folder: Path, published: list[Record], write: Callable[[Path, list[Record]], None], end: str
) -> list[Path]:
    """Write events into several files of a folder, and return them."""
    (folder / "events").mkdir()
    paths = [folder / "events" / f"part-{number}.{end}" for number in range(FILES)]
    for number, path in enumerate(paths):
        write(path, published[number::FILES])
    return paths


def json_lines(folder: Path, published: list[Record], request: pytest.FixtureRequest) -> Place:
    def write(path: Path, some: list[Record]) -> None:
        told = [{"@type": each["kind"], "price": each["price"], "maker": each["maker"]} for each in some]
        path.write_text("".join(json.dumps(each) + "\n" for each in told))

    names = {}
    for number, path in enumerate(in_files(folder, published, write, "jsonl")):
        for line, record in enumerate(published[number::FILES], 1):
            names[path.name if line == 1 else f"{path.name}#{line}"] = record["id"]
    return Place({"kind": "files", "path": str(folder / "events"), "max_files": 2}, {"vocab": "urn:"}, names)


def n_quads(folder: Path, published: list[Record], request: pytest.FixtureRequest) -> Place:
    def write(path: Path, some: list[Record]) -> None:
        path.write_text("".join(triples(each, f"<{each['id']}>") for each in some))

    in_files(folder, published, write, "nq")
    return Place({"kind": "files", "path": str(folder / "events"), "max_files": 2})


def csv(folder: Path, published: list[Record], request: pytest.FixtureRequest) -> Place:
    def write(path: Path, some: list[Record]) -> None:
        rows = [f"{each['id']};{each['kind']};{each['price']};{each['maker'] or ''}\n" for each in some]
        path.write_text("".join(["id;kind;price;maker\n", *rows]))

    in_files(folder, published, write, "csv")
    (folder / "mapping.json").write_text(json.dumps(CSV_MAPPING))
    options = {"csv": {"delimiter": ";", "mapping": str(folder / "mapping.json")}}
    return Place({"kind": "files", "path": str(folder / "events"), "max_bytes": 1}, options)


def parquet(folder: Path, published: list[Record], request: pytest.FixtureRequest) -> Place:
    def write(path: Path, some: list[Record]) -> None:
        pq.write_table(pa.Table.from_pylist(list(map(row, some)), schema=ARROW_EVENTS), path)

    in_files(folder, published, write, "parquet")
    return Place({"kind": "files", "path": str(folder / "events"), "format": "parquet", "max_files": 3})


def event_log(folder: Path, published: list[Record], request: pytest.FixtureRequest) -> Place:
    with EventLog(folder / "log") as log:
        for start in range(0, COUNT, 7):
            log.append(list(map(row, published[start : start + 7])))
    return Place({"kind": "log", "directory": str(folder / "log"), "max_events": 25})


def kafka(folder: Path, published: list[Record], request: pytest.FixtureRequest) -> Place:
    try:
        connector_jars()
    except NotFetched as error:
        pytest.skip(f"no Kafka connector: {error}")
    broker, topic = request.getfixturevalue("broker"), request.getfixturevalue("topic")
    headers = {"content-type": "application/n-triples"}
    broker.produce(
        topic,
        *[
            {"key": each["id"], "value": triples(each), "partition": number % 2, "headers": headers}
            for number, each in enumerate(published)
        ],
    )
    return Place(
        {"kind": "kafka", "bootstrap_servers": broker.address, "topics": [topic], "id": "key", "max_events": 25}
    )


@pytest.mark.parametrize("put", [json_lines, n_quads, csv, parquet, event_log, kafka])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.full)])
def test_the_same_notifications_from_everywhere(spark, tmp_path, request, put, seed):
    random = Random(seed)
    published, rules = records(random), subscriptions(random)
    expected = answers("naive", rules, published)
    assert len(expected) > COUNT
    assert answers("compiled", rules, published) == expected
    Random(put.__name__).shuffle(published)
    place = put(tmp_path, published, request)
    (tmp_path / "ontology.ttl").write_text(ONTOLOGY)
    (tmp_path / "rules").mkdir()
    for name, subscription in rules.items():
        (tmp_path / "rules" / f"{name}.rq").write_text(subscription.text)
    config = Config(
        "agreeing",
        place.source,
        str(tmp_path / "state"),
        ontology=str(tmp_path / "ontology.ttl"),
        subscriptions=str(tmp_path / "rules"),
        events=place.events,
        sinks=[{"kind": "parquet", "path": str(tmp_path / "out")}],
    )
    done: list[object] = []
    Running(config.plan(), spark, say=lambda told: None, on_done=done.append).run(once=True)
    assert len(done) > 1
    assert not (tmp_path / "state" / "dead_letters" / "rejects").exists()
    rows = [
        row for path in tmp_path.glob("out/matches/**/*.parquet") for row in pq.ParquetFile(path).read().to_pylist()
    ]
    found = [(each["subscription_id"], place.names.get(each["event_id"], each["event_id"])) for each in rows]
    assert len(found) == len(set(found))
    assert set(found) == expected
