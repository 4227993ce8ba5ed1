"""How much memory a worker needs, by the number of shards that an index is split into.

Each shard is opened by a process of its own, as by a worker, which matches all events against it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from ontosub.bench.workload import Workload
from ontosub.matching import Matcher
from ontosub.model import Ontology
from ontosub.model.errors import OntosubError
from ontosub.spark.sharding import shard_index
from ontosub.spark.sharding.table import shard_path

Pairs: TypeAlias = set[tuple[str, str]]
"""Events and the subscriptions that they match."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Of the largest of so many shards: bytes on disk, and resident in the worker that has matched events against it.

    What a worker has without any index, Python, libraries and kernels, is not counted. `matches` are those of all.
    """

    shards: int
    stored: int
    resident: int
    matches: int


def memory(folder: Path, workload: Workload, counts: list[int]) -> Iterator[Memory]:
    """Yield what shards take for each of the counts. Raises OntosubError when they miss a match, or find another."""
    events = _table(workload)
    whole = Matcher(workload.ontology, "compiled")
    for subscription in workload.subscriptions:
        whole.subscribe(subscription)
    expected = _pairs(whole, events)
    for count in counts:
        directory = folder / str(count)
        shard_index(workload.ontology, whole, directory, shards=count)
        paths = [shard_path(directory, shard) for shard in range(count)]
        worked = [_in_a_process(path, events) for path in paths]
        if set().union(*(pairs for _, pairs in worked)) != expected:
            raise OntosubError(f"{count} shards have not the matches of the whole index")
        stored = max(sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) for path in paths)
        yield Memory(count, stored, max(resident for resident, _ in worked), len(expected))


def _table(workload: Workload) -> pa.Table:
    count = len(workload.events)
    return pa.table(
        {
            "event_id": [f"e{number}" for number in range(count)],
            "content_type": ["application/n-triples"] * count,
            "payload": pa.array([event.payload for event in workload.events], pa.binary()),
        }
    )


def _pairs(matcher: Matcher, events: pa.Table) -> Pairs:
    matches = matcher.match_batch(events, bindings=False).matches
    return set(zip(matches["event_id"].to_pylist(), matches["subscription_id"].to_pylist(), strict=True))


def _in_a_process(path: Path, events: pa.Table) -> tuple[int, Pairs]:
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_worked, (path, events))


def _worked(path: Path, events: pa.Table) -> tuple[int, Pairs]:
    """Return by how much the memory of this process grows with an index and the work on it, and the matches."""
    _pairs(Matcher(Ontology(), "compiled"), events)  # loads kernels, and takes the memory to read events
    before = _resident()
    matcher = Matcher.open(path, verify=False)
    pairs = _pairs(matcher, events)
    return max(0, _resident() - before), pairs


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
