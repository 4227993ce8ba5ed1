"""What tests of the pipeline share: an ontology, subscriptions in files, and events in a log."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ontosub.event_log import EventLog
from ontosub.pipeline.config import Config
from ontosub.pipeline.plan import Plan
from ontosub.sinks import Sink

ONTOLOGY = """
@prefix : <urn:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Notebook rdfs:subClassOf :Computer .
"""
CHEAP = "PREFIX : <urn:> SELECT ?x { ?x a :Computer ; :price ?p FILTER(?p < 400) }"
ALL = "PREFIX : <urn:> SELECT ?x ?p { ?x a :Computer ; :price ?p }"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with an ontology and two subscriptions."""
    (tmp_path / "rules").mkdir()
    (tmp_path / "ontology.ttl").write_text(ONTOLOGY)
    (tmp_path / "rules" / "cheap.rq").write_text(CHEAP)
    (tmp_path / "rules" / "all.rq").write_text(ALL)
    return tmp_path


@pytest.fixture
def offer() -> Callable[[int], dict[str, object]]:
    """Return what makes the event of a number: a notebook with that price."""

    def made(number: int) -> dict[str, object]:
        payload = f"<urn:n{number}> a <urn:Notebook> ; <urn:price> {number} .".encode()
        return {"event_id": f"e{number}", "content_type": "text/turtle", "payload": payload}

    return made


@pytest.fixture
def log(folder: Path) -> Iterator[EventLog]:
    """Return an event log."""
    with EventLog(folder / "log") as log:
        yield log


@pytest.fixture
def plan(folder: Path, log: EventLog) -> Callable[..., Plan]:
    """Return what makes the plan of a pipeline from the log to a sink."""

    def made(sink: Sink, **options: object) -> Plan:
        given = {
            "name": "offers",
            "source": {"kind": "log", "directory": str(folder / "log"), "max_events": 7},
            "state": str(folder / "state"),
            "ontology": str(folder / "ontology.ttl"),
            "subscriptions": str(folder / "rules"),
            **options,
        }
        config = Config(**given)  # type: ignore[arg-type]
        return replace(config.plan(), sinks=[sink], dead_letters=[sink])

    return made
