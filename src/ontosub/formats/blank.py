"""Blank node labels that are the same on every reading.

pyoxigraph keeps the labels that a source writes and gives random ones to nodes without: `[]`, `( )`, JSON objects
without `@id`. Those are renamed b0, b1, … in order of appearance, so that reading the same bytes twice gives equal
events.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import pyoxigraph
from pyoxigraph import BlankNode, Quad, RdfFormat

from ontosub.model.terms import with_blank_nodes

_RANDOM = r"[a-f][0-9a-f]{15,31}"
"""A random label: up to 128 bits in hexadecimal that start with a letter."""

_LABEL = re.compile(rf"_:({_RANDOM})(?=\s)")
_WRITTEN = re.compile(rf"(?<![0-9a-f]){_RANDOM}(?![0-9a-f])")
_COLON = re.compile(r"_:\S*:\S*\s")
_TAKEN = re.compile(r"_:b(\d+)(?=\s)")


def written_in(text: str) -> frozenset[str]:
    """Return what a source writes that could be taken for a random label."""
    return frozenset(_WRITTEN.findall(text))


def relabel(quads: Iterable[Quad], written: frozenset[str]) -> list[Quad]:
    """Rename the blank nodes of `quads` whose labels the parser made up: those that are not `written` in its source.

    The renaming is done on N-Quads text, which is several times faster than taking every quad apart. A string literal
    cannot be hit by it: what it holds was written.
    """
    quads = list(quads)
    lines = "\n".join([f"{quad} ." for quad in quads])
    if _COLON.search(lines):
        quads = [_legal_quad(quad) for quad in quads]
        lines = "\n".join([f"{quad} ." for quad in quads])
    generated = dict.fromkeys(label for label in _LABEL.findall(lines) if label not in written)
    if not generated:
        return quads
    names = dict(zip(generated, _fresh(lines), strict=False))
    renamed = _LABEL.sub(lambda label: f"_:{names.get(label[1], label[1])}", lines)
    return list(pyoxigraph.parse(renamed, format=RdfFormat.N_QUADS, lenient=True))


def legal(node: BlankNode) -> BlankNode:
    """Return the blank node with a label that every syntax can write.

    JSON-LD and Jelly allow a colon in a blank node's label, as N-Triples 1.1 did; Turtle and RDF 1.2 do not.
    """
    return BlankNode(f"x{node.value.encode().hex()}") if ":" in node.value else node


def _legal_quad(quad: Quad) -> Quad:
    name = legal(quad.graph_name) if isinstance(quad.graph_name, BlankNode) else quad.graph_name
    subject, object_ = with_blank_nodes(quad.subject, legal), with_blank_nodes(quad.object, legal)
    return Quad(subject, quad.predicate, object_, name)  # type: ignore[arg-type]


def _fresh(lines: str) -> Iterator[str]:
    """Yield b0, b1, … without those that the publisher has used."""
    taken = set(_TAKEN.findall(lines))
    number = 0
    while True:
        if str(number) not in taken:
            yield f"b{number}"
        number += 1
