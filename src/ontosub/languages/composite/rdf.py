"""Composite subscriptions as RDF (JTangCSPS, section 4.2). rdf_reader.py reads such graphs.

The vocabulary is in composite.ttl. Conditions are texts, as in the language; a subscription that was written inside a
composite's text goes with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from importlib import resources

from ontosub.languages.composite.graphs import DURATION, Writing
from ontosub.languages.composite.printer import condition_text
from ontosub.model.composite import (
    Aggregate,
    Composite,
    EventPattern,
    Exclusion,
    Iteration,
    Negation,
    Operator,
    Policy,
    Primitive,
    Sequence,
    operands_of,
)
from ontosub.model.subscription import Subscription
from ontosub.model.terms import Literal, Resource, Triple


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
    if isinstance(pattern, Negation | Iteration):
        writing.say_list(node, "perOnly", map(Literal, pattern.per))
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
