"""Composite subscriptions from RDF: a graph is read into the tree that a text would be read into.

So a graph means what the text means, with the same defaults, and the same is refused. rdf.py writes such graphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import NoReturn

from ontosub.languages.composite.durations import parse_duration
from ontosub.languages.composite.graphs import COMPOSITE, Reading
from ontosub.languages.composite.inline import parse_inline
from ontosub.languages.composite.reader import Reader
from ontosub.languages.composite.resolving import Operand, Resolver, check_size, unknown
from ontosub.languages.composite.syntax import (
    AND,
    AND_NOT,
    NOT,
    OR,
    PARALLEL,
    RESTRICT,
    TIMES,
    Applied,
    Chosen,
    Named,
    Syntax,
)
from ontosub.languages.composite.tokens import TEXT_MAX, is_variable
from ontosub.languages.composite.words import LANGUAGES, RELATIONS
from ontosub.languages.prologue import Fault, Prologue, shown
from ontosub.languages.sparql.source import Source
from ontosub.model.composite import (
    COUNT_MAX,
    DEPTH_MAX,
    NODES_MAX,
    OPERANDS_MAX,
    Aggregate,
    AggregateFunction,
    Composite,
    Policy,
)
from ontosub.model.errors import FormatError, LimitError, Span
from ontosub.model.pattern import Filter, GraphPattern
from ontosub.model.subscription import Subscription
from ontosub.model.terms import Term, Triple, Variable

_OPERATORS = {
    "Conjunction": AND,
    "Concurrency": PARALLEL,
    "Disjunction": OR,
    "Negation": NOT,
    "Exclusion": AND_NOT,
    "Iteration": TIMES,
    "Restriction": RESTRICT,
    "Sequence": "",
}
"""The classes of operators, and how each is called in a tree; a sequence is called by its relation."""
_SINGLE = ("Negation", "Exclusion", "Iteration", "Restriction")
_PROPERTIES = {"operands", "window", "where", "policy", "per", "perOnly", "aggregates"}
"""What may be stated of operators. As in a text, some of it is refused where it means nothing."""
_PROPERTIES_OF = {"Sequence": {"relation"}, "Exclusion": {"excluded"}, "Iteration": {"count"}}
_NUMBER = re.compile("[0-9]{1,9}")


def from_graph(graph: Iterable[Triple], *, names: Mapping[str, Operand] | None = None) -> list[Composite]:
    """Return the composite subscriptions of a graph, by id. What a graph leaves out means what it means in a text.

    `names` are the subscriptions and composites that it may name. Without `names`, a subscription that is named must
    state its variables, and is taken to bind them.

    Raises FormatError that names the vertex, LanguageError for a condition or an inline subscription that cannot be
    read, LimitError when a pattern is too large.
    """
    reading = Reading(graph)
    nodes = sorted(reading.subjects.get(COMPOSITE["CompositeSubscription"], ()), key=str)
    return sorted([_composite(node, reading, names) for node in nodes], key=lambda composite: composite.id)


def _composite(node: Term, reading: Reading, names: Mapping[str, Operand] | None) -> Composite:
    reading.visited = 0
    reading.check_properties(node, "CompositeSubscription", {"id", "hasPattern"})
    trees = _Trees(reading, names)
    tree = trees.read(reading.needed(node, "hasPattern"), 1)
    resolver = Resolver(trees.vertices, Prologue(), trees.lookup, Policy.CONSUME)
    pattern = check_size(resolver.pattern(tree), trees.vertices)
    inline = {**trees.inline, **resolver.subscriptions}
    return reading.make(node, Composite, reading.text(node, "id"), pattern, tuple(inline.values()))


class _Vertices(Source):
    """What a graph has instead of a text: errors name a vertex. The line of a span is the number of the vertex."""

    def __init__(self) -> None:
        super().__init__("")
        self._nodes: list[Term] = []

    def place(self, node: Term) -> Span:
        """Return the span that stands for a vertex."""
        self._nodes.append(node)
        return Span(len(self._nodes), 1, len(self._nodes), 1)

    def error(self, message: str, span: Span | None, hint: str) -> NoReturn:
        where = f"{self._nodes[span.line - 1]}: " if span is not None else ""
        raise FormatError(f"{where}{message}", hint=hint)


class _Trees:
    """Reads the tree that a text would be read into; so it means the same, and the same is refused."""

    def __init__(self, reading: Reading, names: Mapping[str, Operand] | None) -> None:
        self._reading, self._names = reading, names
        self._stated: dict[str, set[str]] = {}
        self._characters = 0
        self.vertices = _Vertices()
        self.inline: dict[str, Subscription] = {}

    def lookup(self, name: str, span: Span) -> Operand:
        """Return what a name stands for."""
        if name in self.inline:
            return self.inline[name]
        if self._names is None:
            variables = tuple(map(Variable, sorted(self._stated[name])))
            return Subscription(name, (GraphPattern(projection=variables),))
        if name not in self._names:
            raise unknown(name, self._names, self.vertices, span)
        return self._names[name]

    def read(self, node: Term, depth: int) -> Syntax:
        """Return the tree of a vertex."""
        reading = self._reading
        reading.visit(node, depth, NODES_MAX, DEPTH_MAX)
        kind = reading.kind(node)
        if kind == "PrimitiveSubscription":
            return self._named(node)
        if kind not in _OPERATORS:
            raise reading.fault(node, f"is a {kind}, which is no operator", "Use the classes of the vocabulary.")
        reading.check_properties(node, kind, _PROPERTIES | _PROPERTIES_OF.get(kind, frozenset()))
        tree = Applied(_OPERATORS[kind] or self._relation(node), [], self.vertices.place(node))
        self._read_suffixes(node, tree)
        tree.operands = [self.read(each, depth + 1) for each in reading.items(node, "operands")]
        least, most = (1, 1) if kind in _SINGLE else (2, OPERANDS_MAX)
        if not least <= len(tree.operands) <= most:
            hint = "Give it one." if kind in _SINGLE else f"Give it 2 to {OPERANDS_MAX}."
            raise reading.fault(node, f"has {len(tree.operands)} operands", hint)
        if kind == "Exclusion":
            tree.operands.append(self.read(reading.needed(node, "excluded"), depth + 1))
        return tree

    def _relation(self, node: Term) -> str:
        word = self._reading.text(node, "relation")
        if word not in RELATIONS:
            hint = f"Choose one of {', '.join(RELATIONS)}."
            raise self._reading.fault(node, f"has no such relation: {shown(word)}", hint)
        return RELATIONS[word]

    def _read_suffixes(self, node: Term, tree: Applied) -> None:
        reading = self._reading
        tree.window, tree.where = self._window(node), self._where(node)
        policy = self._optional(node, "policy")
        tree.policy = None if policy is None else reading.make(node, Policy, policy)
        tree.only = reading.value(node, "perOnly") is not None
        if tree.only and reading.value(node, "per") is not None:
            raise reading.fault(node, "has per and perOnly", "State one of them.")
        tree.per = [(name, tree.span) for name in reading.texts(node, "perOnly" if tree.only else "per")]
        tree.aggregates = [(self._aggregate(each), tree.span) for each in reading.items(node, "aggregates")]
        tree.count = self._count(node)
        if tree.operator == RESTRICT and tree.window is None and not tree.where:
            raise reading.fault(node, "restricts nothing", "Give it a window or a condition.")

    def _optional(self, node: Term, name: str) -> str | None:
        return None if self._reading.value(node, name) is None else self._reading.text(node, name)

    def _window(self, node: Term) -> timedelta | None:
        written = self._optional(node, "window")
        try:
            return None if written is None else parse_duration(written)
        except Fault as fault:
            raise FormatError(f"{node}: {fault.message}", hint=fault.hint) from None

    def _where(self, node: Term) -> list[Filter]:
        target = Applied(RESTRICT, [], Span(1, 1, 1, 1))
        for text in self._reading.texts(node, "where"):
            self._count_text(node, f"where {text}")
            Reader(Source(f"where {text}"), Prologue()).only_suffix(target)
        return [replace(condition, span=None) for condition in target.where]

    def _count_text(self, node: Term, text: str) -> None:
        self._characters += len(text)
        if self._characters > TEXT_MAX:
            raise LimitError(f"{node}: conditions and inline subscriptions have more than {TEXT_MAX:,} characters")

    def _count(self, node: Term) -> int | None:
        written = self._optional(node, "count")
        if written is None:
            return None
        if not _NUMBER.fullmatch(written) or not 1 <= int(written) <= COUNT_MAX:
            hint = f"Write how often, from 1 to {COUNT_MAX:,}; without a count, it is as often as it comes."
            raise self._reading.fault(node, f"has a count that is no number of times: {shown(written)}", hint)
        return int(written)

    def _aggregate(self, node: Term) -> Aggregate:
        reading = self._reading
        reading.check_properties(node, "Aggregate", {"function", "variable", "name"})
        function = reading.make(node, AggregateFunction, reading.text(node, "function"))
        name = self._variable(node, reading.text(node, "name"))
        return reading.make(node, Aggregate, function, self._optional(node, "variable"), name)

    def _variable(self, node: Term, name: str) -> str:
        """Return the name of a variable, if it can be one."""
        if not is_variable(name):
            raise self._reading.fault(node, f"has a variable that has no name: {shown(name)}", "Write it as x for ?x.")
        return name

    def _named(self, node: Term) -> Named:
        reading = self._reading
        reading.check_properties(node, "PrimitiveSubscription", {"id", "language", "text", "variables"})
        text, chosen = self._optional(node, "text"), self._chosen(node)
        place = self.vertices.place(node)
        if text is not None:
            self._count_text(node, text)
            language = reading.text(node, "language")
            if language not in LANGUAGES:
                raise reading.fault(node, f"has no such language: {shown(language)}", f"Use {', '.join(LANGUAGES)}.")
            written = parse_inline(text, language)
            self.inline[written.id] = written
            return Named(written.id, place, chosen)
        name = reading.text(node, "id")
        if self._names is None and chosen is None:
            hint = "State them, or give the subscription that it names to from_graph (names=…)."
            raise reading.fault(node, "has no variables, and what it names is not known", hint)
        self._stated.setdefault(name, set()).update(each.variable for each in chosen or ())
        return Named(name, place, chosen)

    def _chosen(self, node: Term) -> tuple[Chosen, ...] | None:
        """Return the variables that take part; None, which means all, when nothing is stated."""
        if self._reading.value(node, "variables") is None:
            return None
        return tuple(map(self._choose, self._reading.items(node, "variables")))

    def _choose(self, node: Term) -> Chosen:
        self._reading.check_properties(node, "Variable", {"variable", "name"})
        variable = self._variable(node, self._reading.text(node, "variable"))
        name = self._optional(node, "name")
        here = variable if name is None else self._variable(node, name)
        return Chosen(variable, here, self.vertices.place(node))
