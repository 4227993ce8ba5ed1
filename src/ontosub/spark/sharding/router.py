"""Where an event goes: from the classes of its vertices, with all that follows, to shards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ontosub.matching.batch import Batch
from ontosub.matching.compiled import read_ontology
from ontosub.matching.compiled.events.encoded import EncodedEvent
from ontosub.matching.compiled.index.index import Index
from ontosub.matching.compiled.lane import Arrival
from ontosub.matching.kernel_cache import KERNELS
from ontosub.model import Event
from ontosub.model.errors import IndexDirectoryError
from ontosub.model.terms import NamedNode
from ontosub.semantics import Entailment
from ontosub.spark.sharding.table import Table, read_table, shard_path

_open: dict[str, tuple[tuple[int, ...], Router]] = {}
"""The router of each sharded index that this process has made, with the versions of the shards that it leads to."""


class Router:
    """Encodes events as the shards will, through an index without subscriptions, but for the classes that count."""

    def __init__(self, table: Table, entailment: Entailment) -> None:
        self._index = Index(entailment)
        bits = {self._index.concepts.bit_of_class(NamedNode(name)): found for name, found in table.classes.items()}
        self._masks = np.zeros((len(table.generations), self._index.concepts.tables.words), np.uint64)
        for bit, shards in bits.items():
            self._masks[list(shards), bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)
        self._general = np.zeros(len(table.generations), np.bool_)
        self._general[list(table.general)] = True

    def of_row(self, batch: Batch, row: int) -> list[int]:
        """Return the shards that the event of a row concerns. Raises OntosubError when it cannot be read."""
        return self._shards(Arrival.from_row(batch, row, self._index).encoded)

    def of_event(self, event: Event) -> list[int]:
        """Return the shards that an event concerns. Raises LimitError when too much follows from it."""
        return self._shards(self._index.encode(event))

    def _shards(self, encoded: EncodedEvent) -> list[int]:
        present: NDArray[np.uint64] = np.bitwise_or.reduce(encoded.graph.bits, axis=0)
        found: list[int] = np.flatnonzero((self._masks & present).any(axis=1) | self._general).tolist()
        return found


def router_of(directory: str, generations: tuple[int, ...]) -> Router:
    """Return the router to these versions of the shards, made only if this process has it not.

    Raises IndexDirectoryError when the shards are of other versions by now.
    """
    known = _open.get(directory)
    if known is None or known[0] != generations:
        KERNELS.fill()
        path = Path(directory)
        table = read_table(path)
        if table.generations != generations:
            raise changed(directory)
        for other in [other for other in _open if not Path(other).exists()]:
            del _open[other]
        known = _open[directory] = generations, Router(table, Entailment(read_ontology(shard_path(path, 0))))
    return known[1]


def changed(directory: str) -> IndexDirectoryError:
    """Return the error for shards that were saved again while a query used them."""
    hint = "Start the query again, or save new shards into a directory of their own."
    return IndexDirectoryError("the shards have changed since the query began", directory, hint)
