"""Our compiled index, taken apart into decoding and matching as the peers are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import pyarrow as pa

from ontosub.bench.engines.engine import Engine
from ontosub.bench.workload import PAYLOAD_FORMAT, Published
from ontosub.matching.batch import Batch
from ontosub.matching.compiled import Compiled
from ontosub.matching.compiled.lane import Arrival
from ontosub.model import Binding, Event, Ontology, Subscription
from ontosub.semantics import Entailment


class CompiledIndex(Engine):
    """The algorithm of `Matcher(algorithm="compiled")`."""

    name = "compiled"
    is_peer: ClassVar[bool] = False

    def prepare(self, subscriptions: Sequence[Subscription], ontology: Ontology) -> None:
        self._algorithm = Compiled(Entailment(ontology))
        for subscription in subscriptions:
            self._algorithm.subscribe(subscription)
        self._algorithm.merge()
        self._visits = 0

    def decode(self, event: Event) -> Arrival:
        return self._algorithm.arrive(event)

    def match(self, decoded: Arrival) -> list[str]:
        found = self._algorithm.ids(decoded)
        self._visits += self._algorithm.visits
        return found

    def batch(self, events: Sequence[Published]) -> Callable[[], object]:
        columns = {
            "event_id": [each.event.id for each in events],
            "content_type": [PAYLOAD_FORMAT] * len(events),
            "payload": [each.payload for each in events],
        }
        batch = Batch(pa.table(columns))
        return lambda: self._algorithm.match_batch(batch, bindings=False)

    def bindings(self, decoded: Arrival) -> dict[str, list[Binding]]:
        return {match.subscription_id: match.bindings for match in self._algorithm.answers(decoded)}

    def counters(self) -> Mapping[str, float]:
        return {"visits": self._visits, "index_bytes": self._algorithm.size}
