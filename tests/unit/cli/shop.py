"""A small shop that the tests of the command line share: an ontology, subscriptions, events."""

from pathlib import Path

from typer.testing import CliRunner, Result

from ontosub.cli import app

ONTOLOGY = """
@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Notebook a rdfs:Class ; rdfs:subClassOf :Computer . :Computer a rdfs:Class .
:price a <http://www.w3.org/1999/02/22-rdf-syntax-ns#Property> .
"""
CHEAP = "PREFIX : <http://example.org/> SELECT ?x ?price { ?x a :Computer ; :price ?price FILTER (?price < 400) }"
NOTEBOOK = "@prefix : <http://example.org/> . :pc a :Notebook ; :price 350.00 ."
DEAR = "@prefix : <http://example.org/> . :mainframe a :Computer ; :price 45000 ."

FILES = {
    "ontology/shop.ttl": ONTOLOGY,
    "subscriptions/cheap.rq": CHEAP,
    "subscriptions/any.mdv": "PREFIX : <http://example.org/> search Computer c register c",
    "events/notebook.ttl": NOTEBOOK,
    "events/dear.ttl": DEAR,
}


def fill(folder: Path) -> Path:
    """Write the shop's files into a folder."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


def run(*arguments: object, input: str | bytes | None = None) -> Result:
    """Run a command inside this process."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)
