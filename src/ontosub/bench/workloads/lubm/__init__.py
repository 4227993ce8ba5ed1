"""The workload of the iBroker paper: a large document about universities, and profiles of a few triples each.

The document is LUBM's kind of data, written anew: `ontology` says what there is, `document` how much of it, `profiles`
what is asked.
"""

from __future__ import annotations

import random

from ontosub.bench.workload import Published, Workload
from ontosub.bench.workloads.lubm.document import document
from ontosub.bench.workloads.lubm.ontology import ontology
from ontosub.bench.workloads.lubm.profiles import profile, residual_profile
from ontosub.model import Event

TRIPLES = 100_000


def generate(size: int, events: int, seed: int, *, triples: int = TRIPLES) -> Workload:
    """Return `size` profiles, and documents of `triples` triples each."""
    chance = random.Random(f"lubm {seed}")  # noqa: S311 - reproducible on purpose
    subscriptions = [profile(f"s{number}", chance) for number in range(size)]
    published = [Published.of(Event(f"e{number}", document(triples, chance))) for number in range(events)]
    return Workload("lubm", seed, ontology(), subscriptions, published)


def generate_residual(size: int, events: int, seed: int, *, triples: int = TRIPLES) -> Workload:
    """Return `size` profiles that a basic graph pattern cannot say, and documents of `triples` triples each."""
    chance = random.Random(f"lubm-residual {seed}")  # noqa: S311 - reproducible on purpose
    subscriptions = [residual_profile(f"s{number}", chance) for number in range(size)]
    published = [Published.of(Event(f"e{number}", document(triples, chance))) for number in range(events)]
    return Workload("lubm-residual", seed, ontology(), subscriptions, published)
