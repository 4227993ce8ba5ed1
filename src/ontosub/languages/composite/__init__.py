"""The language of composite subscriptions: patterns over several events, with the operators of JTangCSPS.

    PREFIX : <http://example.org/sensors#>
    smoke before sparql { SELECT ?room { ?x a :Heat ; :room ?room } } within 10 min

`parse` reads one composite, `parse_all` several that may name each other, `to_text` writes a pattern. docs/COMPOSITE.md
defines what they mean.
"""

from __future__ import annotations

from collections.abc import Mapping

from ontosub.languages.composite.builder import Pattern, on
from ontosub.languages.composite.parser import parse_tree
from ontosub.languages.composite.printer import to_text
from ontosub.languages.composite.rdf import from_graph, to_graph, vocabulary
from ontosub.languages.composite.resolving import (
    Lookup,
    Operand,
    Resolver,
    check_size,
    lookup_in,
    unknown,
)
from ontosub.languages.prologue import shown
from ontosub.languages.sparql.source import Source
from ontosub.model import readers
from ontosub.model.composite import DEPTH_MAX, Composite, Policy
from ontosub.model.errors import LanguageError, LimitError, OntosubError, Span


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
    return _resolved(source, id, lookup_in(names or {}, source), prefixes, policy)


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


def parse_each(
    texts: Mapping[str, str],
    *,
    names: Mapping[str, Operand] | None = None,
    prefixes: Mapping[str, str] | None = None,
    policy: Policy = Policy.CONSUME,
) -> tuple[dict[str, Composite], dict[str, OntosubError]]:
    """Do as `parse_all` does, but return the composites that can be read and what is wrong with the others."""
    named = _Named(texts, names or {}, prefixes, policy)
    for name in texts:
        named.read(name)
    return {name: named.composites[name] for name in texts if name in named.composites}, named.faults


class _Named:
    """Composites that name each other: each is read once, when it is first asked for."""

    def __init__(
        self, texts: Mapping[str, str], names: Mapping[str, Operand], prefixes: Mapping[str, str] | None, policy: Policy
    ) -> None:
        self._texts, self._names, self._prefixes, self._policy = texts, names, prefixes, policy
        self._reading: list[str] = []
        self.composites: dict[str, Composite] = {}
        self.faults: dict[str, OntosubError] = {}
        """What is wrong with the others, causes before what follows from them."""

    def read(self, id: str) -> None:
        """Read the composite with this id, and what it names, unless that has been done."""
        if id in self.composites or id in self.faults:
            return
        source = Source(self._texts[id])
        self._reading.append(id)
        try:
            self.composites[id] = _resolved(source, id, self._lookup(source), self._prefixes, self._policy)
        except LanguageError as error:
            self.faults[id] = _of_source(error, id)
        except LimitError as error:
            self.faults[id] = error
        self._reading.pop()

    def _lookup(self, source: Source) -> Lookup:
        def lookup(name: str, span: Span) -> Operand:
            if name in self._reading:
                circle = " → ".join([*self._reading[self._reading.index(name) :], name])
                hint = f"No composite can be made of itself: {circle}."
                raise source.error(f'"{shown(name)}" leads back to itself', span, hint)
            if name not in self._texts and name not in self._names:
                raise unknown(name, {**self._names, **self._texts}, source, span)
            if len(self._reading) > DEPTH_MAX:
                raise source.limit("composites name each other too deeply", span, f"At most {DEPTH_MAX} may.")
            if name not in self._texts:
                return self._names[name]
            self.read(name)
            if name in self.faults:
                raise source.error(f'"{shown(name)}" cannot be used', span, "Mend that composite first.")
            return self.composites[name]

        return lookup


def _of_source(error: LanguageError, id: str) -> LanguageError:
    """Return the error with the id of the text that it is about, if it does not say so yet."""
    found = error.diagnostic
    if found.source is not None:
        return error
    return LanguageError(found.message, hint=found.hint, text=found.text, span=found.span, source=id)


def _resolved(source: Source, id: str, lookup: Lookup, prefixes: Mapping[str, str] | None, policy: Policy) -> Composite:
    tree, prologue = parse_tree(source, prefixes)
    resolver = Resolver(source, prologue, lookup, policy)
    pattern = check_size(resolver.pattern(tree), source)
    return Composite(id, pattern, tuple(resolver.subscriptions.values()), source.text)


readers.register("composite.parse", parse)

__all__ = ["Pattern", "from_graph", "on", "parse", "parse_all", "parse_each", "to_graph", "to_text", "vocabulary"]
