"""The RDF form of composite subscriptions (JTangCSPS, section 4.2), in and out.

The vocabulary is in composite.ttl. Conditions are texts, as in the language; a subscription that was written inside a
composite's text goes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from importlib import resources

from ontosub.languages.composite.durations import parse_duration
from ontosub.languages.composite.graphs import COMPOSITE, DURATION, Reading, Writing
from ontosub.languages.composite.inline import parse_inline
from ontosub.languages.composite.printer import condition_text
from ontosub.languages.composite.reader import Reader
from ontosub.languages.composite.syntax import RESTRICT, Applied
from ontosub.languages.prologue import Fault, Prologue
from ontosub.languages.sparql.source import Source
from ontosub.model.composite import (
    DEPTH_MAX,
    NODES_MAX,
    Aggregate,
    AggregateFunction,
    Composite,
    Concurrency,
    Conjunction,
    Disjunction,
    EventPattern,
    Exclusion,
    Iteration,
    Negation,
    Operator,
    Policy,
    Primitive,
    Restriction,
    Sequence,
    operands_of,
)
from ontosub.model.errors import FormatError, Span
from ontosub.model.pattern import Filter
from ontosub.model.relation import Relation
from ontosub.model.scope import certain, possible
from ontosub.model.subscription import Subscription
from ontosub.model.terms import Literal, Resource, Term, Triple

_MANY: Mapping[str, Callable[..., Operator]] = {
    "Conjunction": Conjunction,
    "Concurrency": Concurrency,
    "Disjunction": Disjunction,
}


def vocabulary() -> str:
    """Return the ontology of composite events and subscriptions, as Turtle."""
    return resources.files(__package__).joinpath("composite.ttl").read_text(encoding="utf-8")


def to_graph(composite: Composite) -> frozenset[Triple]:
    """Return a composite subscription as RDF."""
    writing = Writing()
    node = writing.node("CompositeSubscription")
    writing.say(node, "id", composite.id)
    inline = {each.id: each for each in composite.subscriptions}
    writing.say(node, "hasPattern", _write(composite.pattern, inline, writing))
    return frozenset(writing.triples)


def _write(pattern: EventPattern, inline: Mapping[str, Subscription], writing: Writing) -> Resource:
    if isinstance(pattern, Primitive):
        return _write_primitive(pattern, inline, writing)
    node = writing.node(type(pattern).__name__)
    operands = [_write(operand, inline, writing) for operand in operands_of(pattern)]
    if isinstance(pattern, Exclusion):
        writing.say(node, "excluded", operands.pop())
    writing.say_list(node, "operands", operands)
    _write_suffixes(pattern, node, writing)
    return node


def _write_suffixes(pattern: Operator, node: Resource, writing: Writing) -> None:
    if pattern.window is not None:
        writing.say(node, "window", Literal(_iso(pattern.window), datatype=DURATION))
    if pattern.where:
        writing.say_list(node, "where", [Literal(condition_text(each)) for each in pattern.where])
    if isinstance(pattern, Sequence):
        writing.say(node, "relation", pattern.relation.value)
    if isinstance(pattern, Negation | Iteration) and pattern.per:
        writing.say_list(node, "per", map(Literal, pattern.per))
    if isinstance(pattern, Iteration):
        writing.say(node, "count", pattern.count)
        if pattern.aggregates:
            writing.say_list(node, "aggregates", [_write_aggregate(each, writing) for each in pattern.aggregates])
    if getattr(pattern, "policy", Policy.CONSUME) is Policy.REUSE:
        writing.say(node, "policy", Policy.REUSE.value)


def _write_aggregate(aggregate: Aggregate, writing: Writing) -> Resource:
    node = writing.node("Aggregate")
    writing.say(node, "function", aggregate.function.value)
    writing.say(node, "variable", aggregate.variable)
    writing.say(node, "name", aggregate.name)
    return node


def _write_primitive(pattern: Primitive, inline: Mapping[str, Subscription], writing: Writing) -> Resource:
    node = writing.node("PrimitiveSubscription")
    writing.say(node, "id", pattern.subscription_id)
    if (written := inline.get(pattern.subscription_id)) is not None:
        writing.say(node, "language", written.language)
        writing.say(node, "text", written.text)
    chosen = []
    for variable, name in pattern.variables:
        pair = writing.node("Variable")
        writing.say(pair, "variable", variable)
        writing.say(pair, "name", name)
        chosen.append(pair)
    writing.say_list(node, "variables", chosen)
    return node


def _iso(duration: timedelta) -> str:
    seconds, fraction = divmod(duration // timedelta(microseconds=1), 1_000_000)
    return f"PT{seconds}S" if not fraction else f"PT{seconds}.{fraction:06d}S"


def from_graph(graph: Iterable[Triple]) -> list[Composite]:
    """Return the composite subscriptions of a graph, by id.

    Raises FormatError that names the vertex, LanguageError for a condition or an inline subscription that cannot be
    read, LimitError when a pattern is too large.
    """
    reading = Reading(graph)
    found = []
    for node in reading.subjects.get(COMPOSITE["CompositeSubscription"], set()):
        inline: dict[str, Subscription] = {}
        pattern = _read(reading.needed(node, "hasPattern"), reading, inline, 1)
        reading.visited = 0
        found.append(Composite(reading.text(node, "id"), pattern, tuple(inline.values())))
    return sorted(found, key=lambda composite: composite.id)


def _read(node: Term, reading: Reading, inline: dict[str, Subscription], depth: int) -> EventPattern:
    reading.visit(node, depth, NODES_MAX, DEPTH_MAX)
    kind = reading.kind(node)
    if kind == "PrimitiveSubscription":
        return _read_primitive(node, reading, inline)
    pattern = _read_operator(node, kind, reading, inline, depth)
    for name in sorted(_unbound(pattern)):
        raise reading.fault(node, f"asks for ?{name}, which is never bound", "Take a variable that its operands bind.")
    return pattern


def _read_operator(node: Term, kind: str, reading: Reading, inline: dict[str, Subscription], depth: int) -> Operator:
    operands = tuple(_read(each, reading, inline, depth + 1) for each in reading.items(node, "operands"))
    window, where = _window(node, reading), _where(node, reading)
    policy = reading.make(node, Policy, _optional(node, "policy", reading) or Policy.CONSUME.value)
    if kind in _MANY:
        return reading.make(node, _MANY[kind], operands, window, where, policy)
    if kind == "Sequence":
        relation = reading.make(node, Relation, reading.text(node, "relation"))
        return reading.make(node, Sequence, relation, operands, window, where, policy)
    if len(operands) != 1:
        raise reading.fault(node, f"has {len(operands)} operands", "Give it one.")
    if kind == "Restriction":
        return reading.make(node, Restriction, operands[0], window, where)
    per = reading.texts(node, "per")
    if kind == "Iteration":
        aggregates = tuple(_read_aggregate(each, reading) for each in reading.items(node, "aggregates"))
        written = _optional(node, "count", reading)
        count = None if written is None else reading.make(node, int, written)
        return reading.make(node, Iteration, operands[0], count, window, per, aggregates, where, policy)
    if window is None:
        raise reading.fault(node, "has no window", "Without one it is never known that nothing came.")
    if kind == "Negation":
        return reading.make(node, Negation, operands[0], window, per, where)
    if kind == "Exclusion":
        excluded = _read(reading.needed(node, "excluded"), reading, inline, depth + 1)
        return reading.make(node, Exclusion, operands[0], excluded, window, where)
    raise reading.fault(node, f"is a {kind}, which is no operator", "Use the classes of the vocabulary.")


def _unbound(pattern: Operator) -> set[str]:
    """Return the variables that an operator asks for although nothing binds them."""
    bound = frozenset[str]().union(*map(possible, operands_of(pattern)))
    asked = {variable.value for condition in pattern.where for variable in condition.variables}
    if isinstance(pattern, Negation | Iteration):
        missing = set(pattern.per) - certain(pattern.operand)
        if isinstance(pattern, Iteration):
            missing |= {each.variable for each in pattern.aggregates if each.variable is not None} - bound
            bound = frozenset({*pattern.per, *(each.name for each in pattern.aggregates)})
        return missing | (asked - bound)
    return asked - bound


def _optional(node: Term, name: str, reading: Reading) -> str | None:
    return None if reading.value(node, name) is None else reading.text(node, name)


def _window(node: Term, reading: Reading) -> timedelta | None:
    written = _optional(node, "window", reading)
    try:
        return None if written is None else parse_duration(written)
    except Fault as fault:
        raise FormatError(f"{node}: {fault.message}", hint=fault.hint) from None


def _where(node: Term, reading: Reading) -> tuple[Filter, ...]:
    target = Applied(RESTRICT, [], Span(1, 1, 1, 1))
    for text in reading.texts(node, "where"):
        Reader(Source(f"where {text}"), Prologue()).only_suffix(target)
    return tuple(replace(condition, span=None) for condition in target.where)


def _read_aggregate(node: Term, reading: Reading) -> Aggregate:
    function = reading.make(node, AggregateFunction, reading.text(node, "function"))
    return reading.make(node, Aggregate, function, _optional(node, "variable", reading), reading.text(node, "name"))


def _read_primitive(node: Term, reading: Reading, inline: dict[str, Subscription]) -> Primitive:
    name, text = reading.text(node, "id"), _optional(node, "text", reading)
    if text is not None:
        inline[name] = parse_inline(text, reading.text(node, "language"), name)
    pairs = reading.items(node, "variables")
    chosen = tuple((reading.text(pair, "variable"), reading.text(pair, "name")) for pair in pairs)
    return reading.make(node, Primitive, name, chosen)
