"""The index: parts that hold subscriptions, and the numbers that they and events have in common.

New subscriptions become a new part; small young parts are merged into larger ones as more come, so that there are never
many. What is unsubscribed is only marked as gone, until its part is merged; a part of which most has gone is made anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ontosub.languages.sparql import query_of
from ontosub.matching.compiled.atoms.atoms import Atoms
from ontosub.matching.compiled.atoms.bodies import Texts
from ontosub.matching.compiled.events.concepts import Concepts
from ontosub.matching.compiled.events.dictionary import Dictionary
from ontosub.matching.compiled.events.encoded import EncodedEvent
from ontosub.matching.compiled.index.drafting import Draft
from ontosub.matching.compiled.index.holdings import Fresh
from ontosub.matching.compiled.index.merging import merged
from ontosub.matching.compiled.index.part import BY_OBJECTS, BY_ROWS, CORE_DECIDES, RESIDUAL_DECIDES, Part
from ontosub.matching.compiled.index.renewal import Numbers, renewed
from ontosub.matching.compiled.queries.plan import starts_with
from ontosub.matching.compiled.queries.vocabulary import ask
from ontosub.model import Event, Ontology, Subscription
from ontosub.model.terms import TYPE, Variable
from ontosub.semantics import Entailment

MERGED_AT_ONCE = 2_000
"""Up to how many subscriptions small parts of the index are merged while a subscriber waits."""

PARTS_MAX = 24
"""How many parts an index may have before half of them are merged, at whatever cost: those that are smallest together,
since each then takes part in few merges."""


class Index(Mapping[str, Subscription]):
    """The subscriptions by id, in the order in which they came, and what it takes to match events against them."""

    def __init__(
        self, entailment: Entailment, dictionary: Dictionary | None = None, atoms: Atoms | None = None
    ) -> None:
        self.entailment = entailment
        # Kernels treat rdf:type as what it is; where axioms speak of it, the event is closed before.
        self._closes = _has_plain_types(entailment.ontology)
        self._applied = entailment if self._closes else Entailment(_classes_only(entailment.ontology))
        self.dictionary = Dictionary() if dictionary is None else dictionary
        self.concepts = Concepts(self._applied, self.dictionary)
        self.atoms = Atoms() if atoms is None else atoms
        self.parts: list[Part] = []
        self.came = 0
        self._pending: dict[str, Subscription] = {}
        self._has_gone = False

    def __len__(self) -> int:
        return len(self._pending) + sum(len(part) - part.gone_count for part in self.parts)

    def __iter__(self) -> Iterator[str]:
        ids = [each for part in self.parts for each in part.holding.ids(np.flatnonzero(~part.gone))]
        return iter([*ids, *self._pending])

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and (id in self._pending or self._find(id) is not None)

    def __getitem__(self, id: str) -> Subscription:
        if id in self._pending:
            return self._pending[id]
        part, number = self._place(id)
        return part.holding[number]

    def _find(self, id: str) -> tuple[Part, int] | None:
        """Return the part and the number there of a subscription."""
        for part in self.parts:
            number = part.holding.find(id)
            if number is not None and not part.gone[number]:
                return part, number
        return None

    def _place(self, id: str) -> tuple[Part, int]:
        found = self._find(id)
        if found is None:
            raise KeyError(id)
        return found

    def add(self, subscription: Subscription) -> None:
        """Take in a subscription whose id is new; it becomes part of the index at the next `flush`."""
        self._pending[subscription.id] = subscription

    def remove(self, id: str) -> None:
        """Forget a subscription."""
        if self._pending.pop(id, None) is None:
            part, number = self._place(id)
            part.drop(np.array([number]))
            self._has_gone = True

    def flush(self) -> None:
        """Make a part of what came since the last time, and make anew what has mostly gone."""
        if self._pending:
            self.parts.append(self._part(list(self._pending.values())))
            self._pending = {}
            self._merge_small()
        if self._has_gone:
            self.parts[:] = [each for part in self.parts for each in _without_much_gone(part)]
            self._has_gone = False

    def _part(self, subscriptions: Sequence[Subscription]) -> Part:
        draft = Draft(self.concepts, self.dictionary, self.atoms)
        starts = [0]
        for subscription in subscriptions:
            residual = subscription.residual
            query = None if residual is None else query_of(residual)
            if query is not None:
                ask(query, self.concepts)
            by_mappings = query is not None and starts_with(query, subscription.patterns)
            for number, pattern in enumerate(subscription.patterns, starts[-1]):
                asks_once = subscription.distinct and not pattern.projected if query is None else not by_mappings
                draft.add(number, pattern, once=asks_once, always=by_mappings and not subscription.core_decides)
            starts.append(starts[-1] + len(subscription.patterns))
        order = np.arange(self.came, self.came + len(subscriptions), dtype=np.int64)
        kind = np.array([_kind_of(each) for each in subscriptions], np.int8)
        part = Part(draft.segment(), Fresh(subscriptions), np.array(starts), order, kind)
        self.came += len(subscriptions)
        return part

    def _merge_small(self) -> None:
        """Merge the youngest parts as long as they are of a size, and no more than may be merged at once."""
        parts = self.parts
        first, size = len(parts) - 1, len(parts[-1])
        while first > 0 and len(parts[first - 1]) <= 2 * size and size + len(parts[first - 1]) <= MERGED_AT_ONCE:
            size += len(parts[first - 1])
            first -= 1
        if first < len(parts) - 1:
            parts[first:] = [merged(parts[first:])]
        if len(parts) > PARTS_MAX:
            count = PARTS_MAX // 2 + 1
            ends = np.cumsum([0, *map(len, parts)])
            first = int(np.argmin(ends[count:] - ends[:-count]))
            parts[first : first + count] = [merged(parts[first : first + count])]

    def merge(self) -> None:
        """Make one part of all; only what stands in it has numbers then."""
        self.flush()
        if len(self.parts) > 1 or any(part.gone_count for part in self.parts):
            self.parts[:] = [merged(self.parts)]
        new = renewed(self.parts, Numbers(self.concepts, self.dictionary, self.atoms), self._applied)
        if new is not None:
            self.parts, (self.concepts, self.dictionary, self.atoms) = new

    def encode(self, event: Event) -> EncodedEvent:
        """Return the event in numbers, closed under the ontology."""
        triples = event.graph
        if not self._closes:
            triples |= self.entailment.event_graph(event).triples
        return self._with_atoms(EncodedEvent(triples, event.home, self.dictionary, self.concepts))

    def encode_payload(self, data: bytes, *, quads: bool) -> EncodedEvent | None:
        """Return the event that N-Triples or N-Quads hold; None when only a real parser can tell."""
        if not self._closes:
            return None
        encoded = EncodedEvent.of_payload(data, quads=quads, dictionary=self.dictionary, concepts=self.concepts)
        return None if encoded is None else self._with_atoms(encoded)

    def _with_atoms(self, encoded: EncodedEvent) -> EncodedEvent:
        if len(self.atoms):
            known = self.dictionary
            texts = Texts(*encoded.texts(), encoded.graph.vertices, known.text, known.offsets)
            starts, atoms = self.atoms.held(texts)
            encoded.graph = encoded.graph._replace(atoms_from=starts, atoms=atoms)
        return encoded


def _without_much_gone(part: Part) -> list[Part]:
    """Return the part; without what has gone, if that is more than half."""
    if 2 * part.gone_count <= len(part):
        return [part]
    return [merged([part])] if part.gone_count < len(part) else []


def _kind_of(subscription: Subscription) -> int:
    if subscription.residual is not None:
        return CORE_DECIDES if subscription.core_decides else RESIDUAL_DECIDES
    arcs = (arc for pattern in subscription.patterns for arc in pattern.arcs)
    return BY_OBJECTS if subscription.distinct or any(isinstance(arc.property, Variable) for arc in arcs) else BY_ROWS


def _has_plain_types(ontology: Ontology) -> bool:
    """Say whether rdf:type stands outside the property axioms."""
    pairs = ontology.subproperties | ontology.inverses | ontology.domains | ontology.ranges
    return all(TYPE not in pair for pair in pairs) and TYPE not in ontology.symmetric | ontology.transitive


def _classes_only(ontology: Ontology) -> Ontology:
    """Return what is left to apply to an event graph that is closed already: the hierarchy of classes."""
    return replace(Ontology(classes=ontology.classes, properties=ontology.properties), subclasses=ontology.subclasses)
