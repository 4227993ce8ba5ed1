"""The compiled algorithm: subscriptions into segments, events through the walk, rows into answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ontosub.matching.algorithm import Algorithm
from ontosub.matching.answers import match_of
from ontosub.matching.compiled.building import Builder, Entry, Limit
from ontosub.matching.compiled.concepts import Concepts
from ontosub.matching.compiled.conditions import sort_conditions
from ontosub.matching.compiled.dictionary import Dictionary
from ontosub.matching.compiled.encoded import EncodedEvent
from ontosub.matching.compiled.layout import (
    FIRST,
    GROUP_FROM,
    GROUP_TO,
    NEXT,
    NONE,
    PARENT,
    PATTERN,
    PROPERTY_REGISTERS,
    REGISTERS,
    STATE_COLUMNS,
    Scratch,
    Segment,
)
from ontosub.matching.compiled.plan import Numbering, Sequence, Shape, sequence_of, shape_of
from ontosub.matching.compiled.walk import FRAME_COLUMNS, FULL, ROW_HEAD, walk
from ontosub.matching.residual import Residual
from ontosub.model import Binding, Event, GraphPattern, Match, Ontology, Subscription
from ontosub.model.errors import LimitError
from ontosub.model.terms import TYPE, PatternTerm, Term, Triple, Variable
from ontosub.semantics import Entailment
from ontosub.semantics.expressions import holds

BUDGET = 1_000_000
"""How many candidates one step of a pattern may look at in one event."""

_EPOCHS = 2**31 - 1


class _Template(NamedTuple):
    """What all instances of a shape share: the steps, and which vertices they bind as constants, in which order."""

    sequence: Sequence
    constants: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A pattern in the index, and in which registers its vertices and property variables are found."""

    subscription: Subscription
    pattern: GraphPattern
    vertices: tuple[tuple[PatternTerm, int], ...]
    properties: tuple[tuple[Variable, int], ...]


class _Part(NamedTuple):
    """A segment with the scratch space for walking it."""

    segment: Segment
    scratch: Scratch


class Compiled(Algorithm):
    """Matches events against a shared index. Gives the answers of the naive algorithm.

    A subscription whose patterns need more than `budget` steps somewhere in an event gets no answer for that event; its
    id is then among `over_budget`. That, and `visits`, the number of steps made, always speak of the last event.
    """

    def __init__(self, entailment: Entailment, *, budget: int = BUDGET) -> None:
        self._entailment = entailment
        self._closes = _has_plain_types(entailment.ontology)
        self._dictionary = Dictionary()
        applied = entailment if self._closes else Entailment(_classes_only(entailment.ontology))
        self._concepts = Concepts(applied, self._dictionary)
        self._numbering = Numbering(self._concepts.bit_of_class, self._concepts.property_number)
        self._budget = budget
        self._templates: dict[Shape, _Template] = {}
        self._patterns: list[_Pattern | None] = []
        self._numbers: dict[str, list[int]] = {}
        self._residuals: dict[str, Residual] = {}
        self._pending: list[Entry] = []
        self._stepless: list[Entry] = []
        self._parts: list[_Part] = []
        self._epoch = 0
        self.visits = 0

    def subscribe(self, subscription: Subscription) -> None:
        residual = subscription.residual
        if residual is not None:
            self._residuals[subscription.id] = Residual(residual, self._entailment.is_implied)
        numbers = self._numbers[subscription.id] = []
        for pattern in subscription.patterns:
            record, entry = self._prepared(subscription, pattern, len(self._patterns))
            numbers.append(entry.pattern)
            self._patterns.append(record)
            # A pattern without vertices asks nothing of the graph, so there is nowhere to walk to.
            (self._pending if entry.sequence.steps else self._stepless).append(entry)

    def unsubscribe(self, id: str) -> None:
        for number in self._numbers.pop(id):
            self._patterns[number] = None
        self._residuals.pop(id, None)

    def _prepared(self, subscription: Subscription, pattern: GraphPattern, number: int) -> tuple[_Pattern, Entry]:
        variables = frozenset(vertex.term for vertex in pattern.vertices if isinstance(vertex.term, Variable))
        conditions = sort_conditions(pattern.filters, variables)
        shape, terms, property_variables = shape_of(pattern, self._numbering, conditions.pins)
        template = self._template(shape)
        registers = template.sequence.registers
        self._keep(pattern)
        asked = [str(conditions.pins.get(terms[position], terms[position])) for position in template.constants]
        constants = tuple(self._dictionary.number(asked).tolist()) if asked else ()
        register_of = dict(zip(terms, registers, strict=True))
        limits = tuple(
            Limit(register_of[each.variable], each.comparison, each.value_kind, each.value)
            for each in conditions.thresholds
        )
        # A variable that is both a vertex and a property has two registers, which only Python compares.
        is_open = bool(conditions.left) or not variables.isdisjoint(property_variables)
        properties = tuple(zip(property_variables, template.sequence.property_registers, strict=True))
        record = _Pattern(subscription, pattern, tuple(register_of.items()), properties)
        return record, Entry(number, template.sequence, constants, limits, is_open)

    def _template(self, shape: Shape) -> _Template:
        template = self._templates.get(shape)
        if template is None:
            sequence = sequence_of(shape)
            bound = [position for position, arrival in enumerate(shape.arrivals) if arrival.constant]
            bound.sort(key=sequence.registers.__getitem__)
            template = self._templates[shape] = _Template(sequence, tuple(bound))
        return template

    def _keep(self, pattern: GraphPattern) -> None:
        if any(isinstance(arc.property, Variable) for arc in pattern.arcs):
            self._concepts.keep(types=True, unknown=True)
        elif any(arc.property == TYPE for arc in pattern.arcs):
            self._concepts.keep(types=True)

    def encode(self, event: Event) -> EncodedEvent:
        """Return the event in numbers, closed under the ontology."""
        self.visits = 0
        triples = event.graph
        if not self._closes:
            triples |= self._entailment.event_graph(event).triples
        return EncodedEvent(_plain(triples), event.home, self._dictionary, self._concepts)

    def match(self, event: Event) -> Iterator[Match]:
        self._flush()
        bindings: defaultdict[str, list[Binding]] = defaultdict(list)
        encoded = self.encode(event)
        over_budget: set[str] = set()
        for record in self._asking_nothing():
            bindings[record.subscription.id].append(Binding())
        for part in range(len(self._parts)):
            _, rows, given_up = self._walk(part, encoded, every=True)
            over_budget |= given_up
            for record, mu in self._mappings(rows, encoded):
                answer = {variable.value: mu[variable] for variable in record.pattern.projected}
                bindings[record.subscription.id].append(Binding(answer))
        self.over_budget = frozenset(over_budget)
        for found in self._in_order(bindings.keys() - over_budget):
            try:
                match = self._match(event, found, bindings[found])
            except LimitError:
                self.over_budget |= {found}
            else:
                if match is not None:
                    yield match

    def match_ids(self, event: Event) -> list[str]:
        """Return the ids of the subscriptions that the event matches, without their answers."""
        self._flush()
        return self.ids(event, self.encode(event))

    def ids(self, event: Event, encoded: EncodedEvent) -> list[str]:
        """Do what `match_ids` does, for an event that is encoded already."""
        found = {record.subscription.id for record in self._asking_nothing()}
        over_budget: set[str] = set()
        for part in range(len(self._parts)):
            numbers, rows, given_up = self._walk(part, encoded, every=False)
            over_budget |= given_up
            certain = (self._patterns[number] for number in numbers)
            found.update(record.subscription.id for record in certain if record is not None)
            found.update(record.subscription.id for record, _ in self._mappings(rows, encoded))
        self.over_budget = frozenset(over_budget - found)
        return [each for each in self._in_order(found) if self._residual_holds(each, event)]

    def _asking_nothing(self) -> Iterator[_Pattern]:
        """Yield the patterns without vertices whose filters, if any, hold."""
        for entry in self._stepless:
            record = self._patterns[entry.pattern]
            if record is not None and _confirms(record.pattern, {}):
                yield record

    def _residual_holds(self, id: str, event: Event) -> bool:
        try:
            return id not in self._residuals or self._by_residual(id, event) is not None
        except LimitError:
            self.over_budget |= {id}
            return False

    def _by_residual(self, id: str, event: Event) -> Match | None:
        return self._residuals[id].match(id, self._entailment.event_graph(event))

    def _in_order(self, ids: set[str]) -> list[str]:
        """Return the ids in the order in which their subscriptions came."""
        return sorted(ids, key=lambda each: self._numbers[each][0])

    def _match(self, event: Event, id: str, bindings: list[Binding]) -> Match | None:
        if id in self._residuals:
            return self._by_residual(id, event)
        record = self._patterns[self._numbers[id][0]]
        return None if record is None else match_of(record.subscription, event, bindings)

    def _flush(self) -> None:
        """Make a segment of what came since the last event."""
        if self._pending:
            builder = Builder()
            for entry in self._pending:
                builder.add(entry)
            self._pending.clear()
            segment = builder.build()
            self._parts.append(_Part(segment, _scratch_for(segment)))

    def _walk(self, part: int, encoded: EncodedEvent, *, every: bool) -> tuple[list[int], list[int], set[str]]:
        """Walk one segment; return patterns found, rows, and the subscriptions that were given up."""
        segment, scratch = self._parts[part]
        graph = encoded.graph
        if len(scratch.used) < len(graph.vertices):
            scratch = scratch._replace(used=np.zeros(2 * len(graph.vertices), np.bool_))
        while True:
            self._epoch += 1
            if self._epoch == _EPOCHS:
                self._parts = [_Part(each.segment, _scratch_for(each.segment)) for each in self._parts]
                self._epoch = 1
            state, found, length, given_up, visits = walk(segment, graph, scratch, self._epoch, every, self._budget)
            if state != FULL:
                break
            if len(scratch.rows) > _ROWS_MAX:
                raise LimitError(f"the event has more answers than fit into {_ROWS_MAX:,} numbers")
            scratch.used[:] = False
            scratch = scratch._replace(rows=np.zeros(4 * len(scratch.rows), np.int32))
        self._parts[part] = _Part(segment, scratch)
        self.visits += int(visits)
        over_budget = self._given_up(segment, scratch, given_up)
        return scratch.found[:found].tolist(), scratch.rows[:length].tolist(), over_budget

    def _given_up(self, segment: Segment, scratch: Scratch, count: int) -> set[str]:
        records = (self._patterns[n] for move in set(scratch.exhausted[:count]) for n in _patterns_under(segment, move))
        return {record.subscription.id for record in records if record is not None}

    def _mappings(self, rows: list[int], encoded: EncodedEvent) -> Iterator[tuple[_Pattern, dict[PatternTerm, Term]]]:
        """Yield the mappings that rows hold and, where they are open, Python confirms."""
        start = 0
        while start < len(rows):
            number, is_open, registers, properties = rows[start : start + ROW_HEAD]
            values = rows[start + ROW_HEAD : start + ROW_HEAD + registers + properties]
            start += ROW_HEAD + registers + properties
            record = self._patterns[number]
            if record is not None:
                mu = _mapping(record, values, registers, encoded)
                if mu is not None and (not is_open or _confirms(record.pattern, mu)):
                    yield record, mu


_ROWS_MAX = 1 << 28


def _mapping(
    record: _Pattern, values: list[int], registers: int, encoded: EncodedEvent
) -> dict[PatternTerm, Term] | None:
    mu: dict[PatternTerm, Term] = {term: encoded.term(values[register]) for term, register in record.vertices}
    for variable, register in record.properties:
        property_ = encoded.property(values[registers + register])
        if mu.setdefault(variable, property_) != property_:
            return None
    return mu


def _confirms(pattern: GraphPattern, mu: dict[PatternTerm, Term]) -> bool:
    binding = {term: image for term, image in mu.items() if isinstance(term, Variable)}
    return all(holds(condition.expression, binding) for condition in pattern.filters)


def _plain(triples: frozenset[Triple]) -> frozenset[Triple]:
    """Leave out statements about statements: N-Triples of RDF 1.1 cannot write them, and no pattern asks for them."""
    if any(isinstance(triple.object, Triple) for triple in triples):
        return frozenset(triple for triple in triples if not isinstance(triple.object, Triple))
    return triples


def _patterns_under(segment: Segment, node: int) -> Iterator[int]:
    """Yield the patterns whose entries lie at a node or below."""
    waiting = [int(node)]
    is_move = True
    nodes = segment.nodes
    while waiting:
        below = []
        for each in waiting:
            if not is_move:
                for group in range(nodes[each, GROUP_FROM], nodes[each, GROUP_TO]):
                    yield from _patterns_of(segment, group)
            child = int(nodes[each, FIRST])
            while child != NONE:
                below.append(child)
                child = int(nodes[child, NEXT])
        waiting, is_move = below, not is_move


def _patterns_of(segment: Segment, group: int) -> Iterator[int]:
    for bucket in segment.buckets[segment.buckets[:, 0] == group]:
        yield from segment.entries[bucket[1] : bucket[2], PATTERN].tolist()


def _scratch_for(segment: Segment) -> Scratch:
    nodes = segment.nodes
    depth = np.zeros(len(nodes), np.int32)
    for node in range(1, len(nodes)):
        depth[node] = depth[nodes[node, PARENT]] + 1
    return Scratch(
        binding=np.zeros(int(nodes[:, REGISTERS].max()) + 1, np.int32),
        property_binding=np.zeros(int(nodes[:, PROPERTY_REGISTERS].max()) + 1, np.int32),
        used=np.zeros(64, np.bool_),
        node_state=np.zeros((len(nodes), STATE_COLUMNS), np.int32),
        pattern_epoch=np.zeros(int(segment.entries[:, PATTERN].max()) + 1, np.int32),
        frame=np.zeros((int(depth.max()) + 2, FRAME_COLUMNS), np.int64),
        found=np.zeros(len(segment.entries), np.int32),
        rows=np.zeros(16384, np.int32),
        exhausted=np.zeros(1024, np.int32),
    )


def _has_plain_types(ontology: Ontology) -> bool:
    """Say whether rdf:type stands outside the property axioms, so that kernels can treat it as what it is."""
    pairs = ontology.subproperties | ontology.inverses | ontology.domains | ontology.ranges
    return all(TYPE not in pair for pair in pairs) and TYPE not in ontology.symmetric | ontology.transitive


def _classes_only(ontology: Ontology) -> Ontology:
    """Return what is left to apply to an event graph that is closed already: the hierarchy of classes."""
    return replace(Ontology(classes=ontology.classes, properties=ontology.properties), subclasses=ontology.subclasses)
