"""Which words of a subscription an ontology does not know, wherever in the query they stand."""

from __future__ import annotations

import pytest

from ontosub import Matcher, Ontology, Subscription
from ontosub.model import Severity
from ontosub.model.errors import LanguageError
from ontosub.semantics.check import Words

ONTOLOGY = Ontology.read(
    "@prefix : <urn:> . @prefix owl: <http://www.w3.org/2002/07/owl#> . :A a owl:Class . :p a owl:ObjectProperty .",
    format="text/turtle",
)
PREFIX = "PREFIX : <urn:>\n"


def unknown(query: str, **options: dict[str, str]) -> list[tuple[str, str | None]]:
    """Return what is unknown, and what in the text the diagnostic points at."""
    found = Words(ONTOLOGY).unknown(Subscription.parse(query, id="s", **options))
    return [(each.message, each.offending) for each in found]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?x { ?x a :A OPTIONAL { ?x a :Z } }",
        "SELECT ?x { ?x a :A OPTIONAL { { ?x a :A } UNION { ?x a :Z } } }",
        "SELECT ?x { ?x a :A MINUS { ?x a :Z } }",
        "SELECT ?x { ?x a :A FILTER NOT EXISTS { ?x :p ?y . ?y a :Z } }",
        "SELECT ?x { ?x a :A { SELECT ?x { ?x :p/a :Z } LIMIT 1 } }",
        "SELECT (COUNT(*) AS ?n) { ?x a :Z }",
        "CONSTRUCT { ?x a :Made } { ?x a :Z OPTIONAL { ?x :p ?y } }",
    ],
)
def test_a_class_of_the_residual_is_seen_where_it_stands(query: str) -> None:
    assert unknown(PREFIX + query) == [("unknown class <urn:Z>", ":Z")]
    with pytest.raises(LanguageError, match="unknown class <urn:Z>"):
        Matcher(ONTOLOGY, strict=True).subscribe(Subscription.parse(PREFIX + query, id="s"))


def test_a_class_of_an_alternative_is_seen() -> None:
    assert unknown(PREFIX + "SELECT ?x { { ?x a :A } UNION { ?x a :Z } }") == [("unknown class <urn:Z>", "?x")]


def test_positions_are_left_out_where_the_text_alone_does_not_tell_them() -> None:
    query = "SELECT ?x { ?x a :A OPTIONAL { ?x a :Z } }"
    assert unknown(query, prefixes={"": "urn:"}) == [("unknown class <urn:Z>", None)]


def test_properties_are_notes() -> None:
    subscription = Subscription.parse(PREFIX + "SELECT ?x { ?x a :A OPTIONAL { ?x :p|:q ?y } }", id="s")
    (found,) = Words(ONTOLOGY).unknown(subscription)
    assert (found.severity, found.message, found.offending) == (Severity.NOTE, "unknown property <urn:q>", ":q")


def test_an_ontology_without_words_knows_of_no_unknown_ones() -> None:
    subscription = Subscription.parse(PREFIX + "SELECT ?x { ?x a :A OPTIONAL { ?x a :Z } }", id="s")
    assert Words(Ontology()).unknown(subscription) == []
