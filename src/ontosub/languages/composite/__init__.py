"""The language of composite subscriptions: patterns over several events, with the operators of JTangCSPS.

    PREFIX : <http://example.org/sensors#>
    smoke before sparql { SELECT ?room { ?x a :Heat ; :room ?room } } within 10 min

`parse` reads one composite, `parse_all` and `parse_each` several that may name each other, `to_text` writes a pattern.
docs/COMPOSITE.md defines what they mean.
"""

from __future__ import annotations

from collections.abc import Mapping

from ontosub.languages.composite.builder import Pattern, on
from ontosub.languages.composite.parser import parse_tree
from ontosub.languages.composite.printer import to_text
from ontosub.languages.composite.rdf import to_graph, vocabulary
from ontosub.languages.composite.rdf_reader import from_graph
from ontosub.languages.composite.resolving import Operand, lookup_in
from ontosub.languages.composite.several import parse_each, resolved
from ontosub.languages.sparql.source import Source
from ontosub.model import readers
from ontosub.model.composite import Composite, Policy


def parse(
    text: str,
    *,
    id: str,
    names: Mapping[str, Operand] | None = None,
    prefixes: Mapping[str, str] | None = None,
    policy: Policy = Policy.CONSUME,
) -> Composite:
    """Return the composite subscription of a text.

    `names` are the subscriptions and composites that it may name. `policy` holds for operators that say nothing else.

    Raises LanguageError with position and hint, and LimitError when the text or what becomes of it is too large.
    """
    source = Source(text)
    tree, prologue = parse_tree(source, prefixes)
    return resolved(source, tree, prologue, id, lookup_in(names or {}, source), policy)


def parse_all(
    texts: Mapping[str, str],
    *,
    names: Mapping[str, Operand] | None = None,
    prefixes: Mapping[str, str] | None = None,
    policy: Policy = Policy.CONSUME,
) -> dict[str, Composite]:
    """Return the composites of several texts, by id. They may name each other, and what is in `names`.

    Raises LanguageError as `parse` does, with the id as its source, and when composites are made of each other in a
    circle.
    """
    read, faults = parse_each(texts, names=names, prefixes=prefixes, policy=policy)
    for fault in faults.values():
        raise fault
    return read


readers.register("composite.parse", parse)

__all__ = ["Pattern", "from_graph", "on", "parse", "parse_all", "parse_each", "to_graph", "to_text", "vocabulary"]
