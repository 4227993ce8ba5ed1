"""How long something takes for each of several events: the best of a few rounds, within a budget of time."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import NamedTuple, TypeVar

T = TypeVar("T")

ROUNDS = 3


class Timed(NamedTuple):
    """Seconds for one event, on average over the events of the best round, and how many events that were."""

    seconds: float
    events: int


def time_each(work: Callable[[T], object], items: Sequence[T], *, budget_s: float) -> Timed:
    """Time the work on the items, one after the other.

    The first round ends when half of the budget is used up, but not before one item is done; the rounds after it repeat
    the same items as long as the budget allows. Other programs can only slow a round down, so the best one counts.
    """
    with _quiet():
        began = perf_counter()
        done = 0
        for item in items:
            work(item)
            done += 1
            if perf_counter() - began > budget_s / 2:
                break
        best = perf_counter() - began
        for _ in range(ROUNDS - 1):
            if perf_counter() - began + best > budget_s:
                break
            best = min(best, _round(work, items[:done]))
    return Timed(best / done, done)


def _round(work: Callable[[T], object], items: Sequence[T]) -> float:
    began = perf_counter()
    for item in items:
        work(item)
    return perf_counter() - began


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the garbage collector away from the workload: its millions of objects are not the engine's doing."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
