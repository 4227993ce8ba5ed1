"""The keys of shards: numbers that Spark's hash puts into different partitions.

Spark sends a row to the partition that the hash of its key names, and small numbers in a row often meet in one. The
keys chosen here go round the partitions one after another, for every usual number of partitions.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

SHARDS_MAX = 1_000

_ROUND = 100_800
"""A common multiple of 1 to 10, 12, 16, 20, 24, 32, 48, 64, 100 and 200."""
_TRIED = 1 << 21


@lru_cache
def shard_keys(shards: int) -> tuple[int, ...]:
    """Return the keys of so many shards, always the same: more shards have further keys."""
    places = spark_hash(np.arange(_TRIED, dtype=np.uint32)) % _ROUND
    wanted = np.flatnonzero(places < shards)
    found = dict(zip(places[wanted][::-1].tolist(), wanted[::-1].tolist(), strict=True))  # of several, the first
    return tuple(found[place] for place in range(shards))


def spark_hash(numbers: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return what Spark's function `hash` says of each: Murmur 3 with seed 42."""
    mixed = _rotated(numbers * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    mixed = _rotated(np.uint32(42) ^ mixed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    mixed ^= np.uint32(4)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        mixed = (mixed ^ (mixed >> np.uint32(shift))) * np.uint32(factor)
    return (mixed ^ (mixed >> np.uint32(16))).view(np.int32).astype(np.int64)


def _rotated(numbers: NDArray[np.uint32], by: int) -> NDArray[np.uint32]:
    return (numbers << np.uint32(by)) | (numbers >> np.uint32(32 - by))
