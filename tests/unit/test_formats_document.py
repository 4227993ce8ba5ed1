"""docs/FORMATS.md says what is true: every name, every limit, and its example works."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from ontosub.formats import FORMATS, Limits
from ontosub.formats.mapping_document import _PROPERTY, _WHOLE
from ontosub.formats.reading import Options
from ontosub.model import Event

DOCUMENT = (Path(__file__).parents[2] / "docs" / "FORMATS.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("format", FORMATS, ids=lambda each: each.name)
def test_every_name_of_a_format_is_in_its_row(format):
    row = next(line for line in DOCUMENT.splitlines() if line.startswith(f"| `{format.name}`"))
    assert all(f"`{name}`" in row for name in (*format.media_types, *format.extensions))


@pytest.mark.parametrize("name", [field.name for field in (*fields(Limits), *fields(Options))])
def test_every_limit_and_option_is_documented(name):
    assert f"`{name}`" in DOCUMENT


@pytest.mark.parametrize("member", sorted(_PROPERTY | _WHOLE))
def test_every_member_of_a_mapping_is_documented(member):
    rows = [line for line in DOCUMENT.splitlines() if line.startswith("| `")]
    assert any(f"`{member}`" in row.split("|")[1] for row in rows)


def test_the_mapping_works():
    mapping = json.loads(re.findall(r"```json\n(.*?)```", DOCUMENT, re.DOTALL)[0])
    event = Event.read(
        '<auctions><auction number="7"><closed>2026-01-31T12:00:00Z</closed><price>350.50</price>'
        '<seller id="anna b"/><item>Leica</item></auction></auctions>',
        "xml",
        mapping=mapping,
    )
    a = "http://auction.example/"
    rdf_type = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    assert event.id == "auction-7"
    assert str(event.interval) == "2026-01-31T12:00:00+00:00"
    assert str(event.home) == f"<{a}sale/7>"
    assert sorted(map(str, event.graph)) == sorted(
        [
            f"<{a}sale/7> {rdf_type} <{a}Selling>",
            f'<{a}sale/7> <{a}price> "350.50"^^<http://www.w3.org/2001/XMLSchema#decimal>',
            f'<{a}sale/7> <{a}note> "none"@en',
            f"<{a}sale/7> <{a}seller> <{a}person/anna%20b>",
            f"<{a}sale/7> <{a}item> _:b0",
            f"_:b0 {rdf_type} <{a}Item>",
            f"_:b0 {rdf_type} <{a}Used>",
            f'_:b0 <{a}name> "Leica"',
        ]
    )


def test_the_message_log_works():
    log = re.findall(r"```turtle\n(.*?)```", DOCUMENT, re.DOTALL)[0]
    assert [len(event.graph) for event in Event.read_stream(log, "ttl")] == [2, 2]
