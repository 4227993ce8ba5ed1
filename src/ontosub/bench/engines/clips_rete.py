"""CLIPS, an expert system shell: each subscription a rule, each triple a fact, matched by a Rete network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

from pyoxigraph import Store

from ontosub.bench.engines.engine import Engine
from ontosub.bench.engines.oxigraph import confirmed, store_of
from ontosub.bench.engines.shapes import HOME_NUMBER, Instance, Numbers, instance_of
from ontosub.bench.query_text import existence_query
from ontosub.bench.workload import Workload
from ontosub.model import Event, Ontology, Subscription
from ontosub.model.terms import TYPE
from ontosub.semantics import Entailment

SUBSCRIPTIONS_MAX = 20_000
"""A new rule takes time in proportion to the rules that are there: more of them would take an hour to prepare."""


class Decoded(NamedTuple):
    """An event as facts, and as a store for what rules do not say."""

    facts: str
    store: Store | None


class Clips(Engine):
    """One rule for each pattern; which rules an event activates is read off the agenda, none is ever fired.

    Alternatives are a rule each. With a residual, the rule is for the core, whose matches are asked of Oxigraph.
    """

    name = "clips"
    requires: ClassVar[str | None] = "clips"

    def __init__(self) -> None:
        self._entailment = Entailment(Ontology())
        self._numbers = Numbers()
        self._type = self._numbers.add(TYPE)
        self._residuals: dict[str, str] = {}
        self._rules: dict[str, str] = {}
        self._environment: Any = None

    def capacity(self, workload: Workload) -> int:
        return min(workload.size, SUBSCRIPTIONS_MAX)

    def prepare(self, subscriptions: Sequence[Subscription], ontology: Ontology) -> None:
        import clips

        self._entailment = Entailment(ontology)
        self._residuals = {each.id: existence_query(each) for each in subscriptions if each.residual is not None}
        self._environment = clips.Environment()
        for subscription in subscriptions:
            for pattern in subscription.patterns:
                name = f"r{len(self._rules)}"
                self._rules[name] = subscription.id
                self._environment.build(rule_text(name, instance_of(pattern, self._numbers)))

    def decode(self, event: Event) -> Decoded:
        rows = self._numbers.rows(self._entailment.event_graph(event).triples, event.home)
        facts = (_fact(self._type, subject, p, object_, value) for subject, p, object_, value in rows)
        return Decoded("\n".join(facts), store_of(event, self._entailment) if self._residuals else None)

    def match(self, decoded: Decoded) -> set[str]:
        self._environment.load_facts(decoded.facts)
        found = {self._rules[activation.name] for activation in self._environment.activations()}
        self._environment.reset()
        return confirmed(found, self._residuals, decoded.store)


def _fact(type_: int, subject: int, property_: int, object_: int, value: float | None) -> str:
    """Return a triple as a fact. Classes and properties are relations; a number stands beside the vertex that it is."""
    if property_ == type_:
        return f"(k{object_} n{subject})"
    return f"(p{property_} n{subject} n{object_} {'none' if value is None else repr(value)})"


def rule_text(name: str, instance: Instance) -> str:
    """Return a rule that has one activation when the pattern matches, however often it does."""
    return f"(defrule {name} (exists {' '.join(_Conditions(instance).run())}) =>)"


class _Conditions:
    """The patterns over facts that make up one rule. A class is asked as soon as its vertex is known."""

    def __init__(self, instance: Instance) -> None:
        shape = instance.shape
        self._arcs = shape.arcs
        self._injective = shape.injective
        self._classes = {vertex: list(shape.classes_of(vertex)) for vertex in range(shape.vertices)}
        self._known = {vertex: f"n{number}" for vertex, number in zip(shape.constants, instance.constants, strict=True)}
        if shape.home is not None:
            self._known[shape.home] = f"n{HOME_NUMBER}"
        self._tests: dict[int, list[str]] = {}
        for limit, value in zip(shape.limits, instance.limits, strict=True):
            self._tests.setdefault(limit.vertex, []).append(f"({limit.function} ?w{limit.vertex} {value!r})")

    def run(self) -> Iterator[str]:
        for subject, property_, object_ in self._arcs:
            yield f"(p{property_} {self._vertex(subject)} {self._vertex(object_)} {self._value(object_)})"
            yield from self._types(subject)
            yield from self._types(object_)
        for vertex in self._classes:
            yield from self._types(vertex)

    def _vertex(self, vertex: int) -> str:
        if vertex in self._known:
            return self._known[vertex]
        others = "".join(f"&~{other}" for other in self._known.values()) if self._injective else ""
        self._known[vertex] = f"?v{vertex}"
        return f"?v{vertex}{others}"

    def _value(self, vertex: int) -> str:
        tests = self._tests.pop(vertex, None)
        return f"?w{vertex}&:(and (numberp ?w{vertex}) {' '.join(tests)})" if tests else "?"

    def _types(self, vertex: int) -> Iterator[str]:
        classes, self._classes[vertex] = self._classes[vertex], []
        for class_ in classes:
            yield f"(k{class_} {self._vertex(vertex)})"
