"""How fast engines are relative to the fastest peer. Absolute times say more about a machine than about an engine."""

from __future__ import annotations

from typing import NamedTuple

from ontosub.bench.runner import Measurement, Outcome


class Ratio(NamedTuple):
    """How many times as fast as the fastest peer; whether somebody's time had to be extrapolated to say so."""

    times: float
    is_extrapolated: bool


class _Cost(NamedTuple):
    """Milliseconds for one event at the workload's size."""

    ms: float
    is_extrapolated: bool


def ratios(outcome: Outcome) -> dict[str, Ratio | None]:
    """Return the ratio of each engine that ran, or None where nothing can be said.

    An engine that ran with fewer subscriptions is extrapolated if its time is in proportion to their number, and left
    without a ratio if not. The fastest peer is one that ran at full size, if any did.
    """
    costs = {each.engine: _cost(each, outcome.workload.size) for each in outcome.measurements}
    peers = [cost for each in outcome.measurements if each.is_peer and (cost := costs[each.engine]) is not None]
    if not peers:
        return dict.fromkeys(costs)
    best = min(peers, key=lambda cost: (cost.is_extrapolated, cost.ms))
    return {engine: None if cost is None else _ratio(best, cost) for engine, cost in costs.items()}


def _cost(measurement: Measurement, size: int) -> _Cost | None:
    if measurement.subscriptions == size:
        return _Cost(measurement.match_ms, False)
    if not measurement.is_linear:
        return None
    return _Cost(measurement.match_ms * size / measurement.subscriptions, True)


def _ratio(best: _Cost, own: _Cost) -> Ratio:
    return Ratio(best.ms / own.ms, best.is_extrapolated or own.is_extrapolated)
