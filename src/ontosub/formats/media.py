"""The names of formats: media types, file extensions and short names, all meaning the same few formats."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pyoxigraph import RdfFormat

from ontosub.formats.datatypes import shown
from ontosub.model.errors import UsageError


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its short name, every other name it goes by, and pyoxigraph's syntax when that reads it."""

    name: str
    media_types: tuple[str, ...]
    extensions: tuple[str, ...]
    syntax: RdfFormat | None = None


TURTLE = Format("turtle", ("text/turtle", "application/x-turtle"), ("ttl",), RdfFormat.TURTLE)
TRIG = Format("trig", ("application/trig", "application/x-trig"), ("trig",), RdfFormat.TRIG)
N_TRIPLES = Format("ntriples", ("application/n-triples",), ("nt",), RdfFormat.N_TRIPLES)
N_QUADS = Format("nquads", ("application/n-quads", "text/x-nquads"), ("nq",), RdfFormat.N_QUADS)
N3 = Format("n3", ("text/n3", "text/rdf+n3"), ("n3",), RdfFormat.N3)
RDF_XML = Format("rdfxml", ("application/rdf+xml",), ("rdf", "owl", "daml", "rdfs"), RdfFormat.RDF_XML)
JSON_LD = Format("jsonld", ("application/ld+json",), ("jsonld",), RdfFormat.JSON_LD)
JELLY = Format("jelly", ("application/x-jelly-rdf",), ("jelly",))
JSON = Format("json", ("application/json", "text/json"), ("json",))
JSON_LINES = Format(
    "jsonl",
    ("application/x-ndjson", "application/jsonl", "application/x-jsonlines", "application/x-ld+ndjson"),
    ("jsonl", "ndjson", "ndjsonld"),
)
XML = Format("xml", ("application/xml", "text/xml"), ("xml",))
CSV = Format("csv", ("text/csv",), ("csv",))
TSV = Format("tsv", ("text/tab-separated-values",), ("tsv",))
CLOUDEVENTS = Format("cloudevents", ("application/cloudevents+json",), ("cloudevent",))
CLOUDEVENTS_BATCH = Format("cloudevents-batch", ("application/cloudevents-batch+json",), ())

TURTLE_FAMILY = (TURTLE, TRIG, N_TRIPLES, N_QUADS)
FORMATS = (
    *TURTLE_FAMILY,
    N3,
    RDF_XML,
    JSON_LD,
    JELLY,
    JSON,
    JSON_LINES,
    XML,
    CSV,
    TSV,
    CLOUDEVENTS,
    CLOUDEVENTS_BATCH,
)
RDF_FORMATS = tuple(each for each in FORMATS if each.syntax is not None or each is JELLY)

_BY_NAME = {name: each for each in FORMATS for name in (each.name, *each.media_types, *each.extensions)} | {
    "n-triples": N_TRIPLES,
    "n-quads": N_QUADS,
    "rdf/xml": RDF_XML,
    "json-ld": JSON_LD,
    "ndjson-ld": JSON_LINES,
}
_BY_SUFFIX = {"json": JSON, "xml": XML}
"""RFC 6839: `application/vnd.acme.order+json` is JSON, whatever else it is."""


@dataclass(frozen=True, slots=True)
class Media:
    """A format with the parameters that came with its media type, such as charset and version."""

    format: Format
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def charset(self) -> str | None:
        return self.parameters.get("charset")


def media_of(name: str) -> Media:
    """Return what a media type, an extension (with or without its dot) or a short name stands for.

    >>> media_of("text/turtle; charset=utf-8").format.name
    'turtle'
    >>> media_of(".owl").format.name
    'rdfxml'
    """
    essence, _, rest = name.partition(";")
    key = essence.strip().lower().removeprefix(".")
    found = _BY_NAME.get(key)
    if found is None and "/" in key:
        found = _BY_SUFFIX.get(key.rpartition("+")[2])
    if found is None:
        known = ", ".join(each.name for each in FORMATS)
        raise UsageError(
            f"unknown format {shown(name)!r}: known are {known}, their media types and their file extensions"
        )
    return Media(found, _parameters(rest))


def media_of_path(path: Path) -> Media:
    """Return the format that a file's extension names."""
    if not path.suffix:
        raise UsageError(f"the file {path} has no extension to tell its format by: give the format")
    return media_of(path.suffix)


_PARAMETER = re.compile(r';\s*+([^\s=;"]++)\s*+=\s*+(?:"((?:[^"\\]++|\\.)*+)"|([^;"]*+))', re.DOTALL)
_QUOTED_PAIR = re.compile(r"\\(.)", re.DOTALL)


def _parameters(text: str) -> dict[str, str]:
    """Return the parameters of a media type as HTTP writes them (RFC 9110): a name, and a token or a quoted string.

    What is no parameter is passed over. Mail's `charset*=utf-8''…` (RFC 2231) is a parameter called `charset*`.
    """
    found = _PARAMETER.findall(f";{text}")
    return {name.lower(): _QUOTED_PAIR.sub(r"\1", quoted) or token.strip() for name, quoted, token in found}
