"""The subscriptions of a segment: in memory as they came, or in files, read one by one when they are needed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ontosub.matching.compiled.files.ids import Ids
from ontosub.matching.compiled.files.packed import Packed
from ontosub.matching.compiled.files.records import decode, encode
from ontosub.model import Subscription

Array = NDArray[Any]


class Holding(ABC):
    """Subscriptions by number, and numbers by id."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __getitem__(self, number: int) -> Subscription: ...

    @abstractmethod
    def find(self, id: str) -> int | None:
        """Return the number of the subscription with the id."""

    @abstractmethod
    def ids(self, numbers: Array) -> list[str]:
        """Return the ids of subscriptions."""

    @abstractmethod
    def strings(self, numbers: Array) -> pa.Array:
        """Return the same as an array of strings, without making objects of them."""

    @abstractmethod
    def record(self, number: int) -> bytes:
        """Return a subscription as it is stored."""

    def chosen(self, which: Array) -> Iterator[tuple[Holding, Array]]:
        """Yield the holdings that some of the subscriptions, in order, are from, and their numbers there."""
        yield self, which


class Fresh(Holding):
    """Subscriptions as they came."""

    def __init__(self, subscriptions: Sequence[Subscription]) -> None:
        self._subscriptions = subscriptions
        ids = [subscription.id for subscription in subscriptions]
        self._ids = np.array(ids, np.object_)  # thousands are taken at once
        self._numbers = {each: number for number, each in enumerate(ids)}
        self._strings: pa.Array | None = None

    def __len__(self) -> int:
        return len(self._subscriptions)

    def __getitem__(self, number: int) -> Subscription:
        return self._subscriptions[number]

    def find(self, id: str) -> int | None:
        return self._numbers.get(id)

    def ids(self, numbers: Array) -> list[str]:
        ids: list[str] = self._ids[numbers].tolist()
        return ids

    def strings(self, numbers: Array) -> pa.Array:
        if self._strings is None:
            self._strings = pa.array(self._ids, pa.string())
        return self._strings.take(pa.array(numbers))

    def record(self, number: int) -> bytes:
        return encode(self._subscriptions[number])


class Stored(Holding):
    """Subscriptions in arrays, of which the last used ones are kept as objects."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._ids = Ids(arrays)
        self._records = Packed(arrays)
        self._read = lru_cache(maxsize=10_000)(lambda number: decode(self._records[number]))

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, number: int) -> Subscription:
        return self._read(int(number))

    def find(self, id: str) -> int | None:
        return self._ids.find(id)

    def ids(self, numbers: Array) -> list[str]:
        return self._ids.ids(numbers)

    def strings(self, numbers: Array) -> pa.Array:
        return self._ids.strings.take(pa.array(numbers)).cast(pa.string())

    def record(self, number: int) -> bytes:
        return self._records[number]


def chosen(parts: Iterable[tuple[Holding, Array]]) -> Holding:
    """Return some of the subscriptions of other holdings, one holding after the other, in their order."""
    flat = [each for holding, which in parts if len(which) for each in holding.chosen(which)]
    if all(isinstance(holding, Fresh) for holding, _ in flat):
        return Fresh([holding[number] for holding, which in flat for number in which.tolist()])
    return Chosen(flat)


class Chosen(Holding):
    """Some of the subscriptions of other holdings, which are not made of others themselves."""

    def __init__(self, parts: Sequence[tuple[Holding, Array]]) -> None:
        self._parts = parts
        self._ends = np.cumsum([len(which) for _, which in self._parts])
        self._strings: pa.Array | None = None

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __getitem__(self, number: int) -> Subscription:
        holding, its_number = self._place(number)
        return holding[its_number]

    def _place(self, number: int) -> tuple[Holding, int]:
        part = int(np.searchsorted(self._ends, number, side="right"))
        holding, which = self._parts[part]
        return holding, int(which[number - (self._ends[part] - len(which))])

    def chosen(self, which: Array) -> Iterator[tuple[Holding, Array]]:
        start = 0
        for (holding, own), end in zip(self._parts, self._ends, strict=True):
            stop = int(np.searchsorted(which, end))
            if start < stop:
                yield holding, own[which[start:stop] - (end - len(own))]
            start = stop

    def find(self, id: str) -> int | None:
        for (holding, which), end in zip(self._parts, self._ends, strict=True):
            number = holding.find(id)
            if number is not None:
                position = int(np.searchsorted(which, number))
                if position < len(which) and which[position] == number:
                    return int(end) - len(which) + position
        return None

    def ids(self, numbers: Array) -> list[str]:
        if self._strings is None and len(numbers) < len(self._parts) * 8:
            return [holding.ids(np.array([number]))[0] for holding, number in map(self._place, numbers.tolist())]
        ids: list[str] = self.strings(numbers).to_pylist()
        return ids

    def strings(self, numbers: Array) -> pa.Array:
        if self._strings is None:
            arrays = [holding.strings(which) for holding, which in self._parts]
            self._strings = pa.concat_arrays([pa.array([], pa.string()), *arrays])
        return self._strings.take(pa.array(numbers))

    def record(self, number: int) -> bytes:
        holding, its_number = self._place(number)
        return holding.record(its_number)
