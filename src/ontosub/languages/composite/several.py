"""Composites that name each other: each is read when all that it names has been read, whatever their order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from heapq import nsmallest

from ontosub.languages.composite.parser import parse_tree
from ontosub.languages.composite.resolving import SHOWN_MAX, Lookup, Operand, Resolver, check_size, unknown
from ontosub.languages.composite.syntax import Applied, Named, Syntax
from ontosub.languages.prologue import Prologue, shown
from ontosub.languages.sparql.source import Source
from ontosub.model.composite import Composite, Policy
from ontosub.model.errors import LanguageError, LimitError, OntosubError, Span


def parse_each(
    texts: Mapping[str, str],
    *,
    names: Mapping[str, Operand] | None = None,
    faulty: Collection[str] = (),
    prefixes: Mapping[str, str] | None = None,
    policy: Policy = Policy.CONSUME,
) -> tuple[dict[str, Composite], dict[str, OntosubError]]:
    """Return the composites that can be read, and what is wrong with the others, causes before what follows from them.

    They may name each other, and what is in `names`; `faulty` are names of what is there, but cannot be used.
    """
    several = _Several(texts, names or {}, faulty, prefixes, policy)
    for name in texts:
        several.read(name)
    return {name: several.composites[name] for name in texts if name in several.composites}, several.faults


def resolved(
    source: Source, tree: Syntax, prologue: Prologue, id: str, lookup: Lookup, policy: Policy = Policy.CONSUME
) -> Composite:
    """Return the composite that a tree means."""
    resolver = Resolver(source, prologue, lookup, policy)
    pattern = check_size(resolver.pattern(tree), source)
    return Composite(id, pattern, tuple(resolver.subscriptions.values()), source.text)


class _Several:
    def __init__(
        self,
        texts: Mapping[str, str],
        names: Mapping[str, Operand],
        faulty: Collection[str],
        prefixes: Mapping[str, str] | None,
        policy: Policy,
    ) -> None:
        self._names, self._faulty, self._policy = names, faulty, policy
        self._sources = {name: Source(text) for name, text in texts.items()}
        self._trees: dict[str, tuple[Syntax, Prologue]] = {}
        self.composites: dict[str, Composite] = {}
        self.faults: dict[str, OntosubError] = {}
        for name, source in self._sources.items():
            try:
                self._trees[name] = parse_tree(source, prefixes)
            except (LanguageError, LimitError) as error:
                self._refuse(name, error)

    def read(self, id: str) -> None:
        """Read a composite, after what it names; without recursion, for a chain of names may have any length."""
        way = {id: self._named_in(id)}  # the composites that lead to the one at hand, and what is left of each
        while way:
            current, left = next(reversed(way.items()))
            named = next(left, None)
            if named is None:
                del way[current]
                self._resolve(current)
            elif named.name in way:
                circle = [*list(way)[list(way).index(named.name) :], named.name]
                if len(circle) > SHOWN_MAX:
                    circle[SHOWN_MAX // 2 : -SHOWN_MAX // 2] = ["…"]
                hint = f"No composite can be made of itself: {' → '.join(map(shown, circle))}."
                message = f'"{shown(named.name)}" leads back to itself'
                self._refuse(current, self._sources[current].error(message, named.span, hint))
            else:
                way[named.name] = self._named_in(named.name)

    def _named_in(self, id: str) -> Iterator[Named]:
        """Yield the composites that one names and that are not read yet, as long as nothing is wrong with it."""
        waiting = [self._trees[id][0]] if id in self._trees else []
        while waiting and id not in self.faults:
            tree = waiting.pop()
            if isinstance(tree, Applied):
                waiting += reversed(tree.operands)
            elif isinstance(tree, Named) and tree.name in self._trees and not self._is_done(tree.name):
                yield tree

    @cached_property
    def _known(self) -> list[str]:
        """Some of the names that there are. Many composites may have a wrong name: they are looked for once."""
        return nsmallest(SHOWN_MAX, {*self._names, *self._sources})

    def _is_done(self, id: str) -> bool:
        return id in self.composites or id in self.faults

    def _resolve(self, id: str) -> None:
        if self._is_done(id):
            return
        source, (tree, prologue) = self._sources[id], self._trees[id]
        try:
            self.composites[id] = resolved(source, tree, prologue, id, self._lookup(id), self._policy)
        except (LanguageError, LimitError) as error:
            self._refuse(id, error)

    def _lookup(self, id: str) -> Lookup:
        source = self._sources[id]

        def lookup(name: str, span: Span) -> Operand:
            if name in self.faults or name in self._faulty:
                raise source.error(f'"{shown(name)}" cannot be used', span, "Mend that one first.")
            if name in self.composites:
                return self.composites[name]
            if name not in self._names:
                raise unknown(name, self._known, source, span)
            return self._names[name]

        return lookup

    def _refuse(self, id: str, error: LanguageError | LimitError) -> None:
        """Note what is wrong with a composite, with its id as the source unless the error names one."""
        if isinstance(error, LanguageError) and error.diagnostic.source is None:
            found = error.diagnostic
            error = LanguageError(found.message, hint=found.hint, text=found.text, span=found.span, source=id)
        self.faults[id] = error
