"""Subscriptions from MDV text: one rule, or a set of rules that extend each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256

from ontosub.languages.mdv.compiler import compile_rule
from ontosub.languages.mdv.parser import parse_tree
from ontosub.languages.mdv.scope import Scope, rule_name
from ontosub.languages.mdv.source import Source
from ontosub.languages.mdv.syntax import Rule
from ontosub.model.errors import LanguageError
from ontosub.model.subscription import Subscription


def parse(
    text: str,
    *,
    id: str | None = None,
    prefixes: Mapping[str, str] | None = None,
    rules: Mapping[str, Subscription] | None = None,
) -> Subscription:
    """Read one rule. Without an `id` it gets a digest of its text; `rules` are those that it may extend, by name.

    Raises LanguageError, with position and hint, when the text is malformed; LimitError when it is too large.

    >>> rule = parse("PREFIX : <http://example.org/> search Provider c register c where c.port = 80", id="web")
    >>> print(rule.patterns[0].arcs[0].property, rule.patterns[0].projection)
    <http://example.org/port> (<Variable value=c>,)
    """
    tree = parse_tree(text)
    return _subscription(tree, Source(text), id or f"mdv:{sha256(text.encode()).hexdigest()[:16]}", prefixes, rules)


def parse_rules(texts: Mapping[str, str], *, prefixes: Mapping[str, str] | None = None) -> dict[str, Subscription]:
    """Read rules that may extend each other by name, in any order. Each subscription's id is its rule's name.

    Raises LanguageError also when a rule extends itself, directly or through others.
    """
    trees = {name: parse_tree(text, name=name) for name, text in texts.items()}
    parsed: dict[str, Subscription] = {}
    for name in _extended_first(trees, texts):
        parsed[name] = _subscription(trees[name], Source(texts[name], name), name, prefixes, parsed)
    return {name: parsed[name] for name in texts}


def _subscription(
    tree: Rule,
    source: Source,
    id: str,
    prefixes: Mapping[str, str] | None,
    rules: Mapping[str, Subscription] | None,
) -> Subscription:
    patterns = compile_rule(tree, Scope(tree, source, prefixes, rules))
    return Subscription(id, patterns, distinct=True, language="mdv", text=source.text)


def _extended_first(trees: Mapping[str, Rule], texts: Mapping[str, str]) -> Iterable[str]:
    """Return the rules' names so that each comes after those that it extends."""
    extended = {name: [other for other in _names(tree) if other in trees] for name, tree in trees.items()}
    try:
        return list(TopologicalSorter(extended).static_order())
    except CycleError as error:
        cycle: list[str] = error.args[1][::-1]
        raise _cyclic(cycle, trees[cycle[0]], texts[cycle[0]]) from None


def _names(tree: Rule) -> Iterator[str]:
    """Yield the names of the rules that the rule may extend."""
    for search in tree.searches:
        if (name := rule_name(search.extension)) is not None:
            yield name


def _cyclic(cycle: list[str], tree: Rule, text: str) -> LanguageError:
    """Return the error that names the cycle and points to where its first rule extends the second."""
    spans = (search.extension.span for search in tree.searches if rule_name(search.extension) == cycle[1])
    hint = f"Break the cycle; if {cycle[1]} is meant as a class, write :{cycle[1]}."
    return Source(text, cycle[0]).error(f"the rule extends itself: {' → '.join(cycle)}", next(spans, None), hint)
