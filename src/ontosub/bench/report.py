"""Outcomes for people, as tables, and for programs, as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from typing import TextIO

from rich.table import Table

from ontosub.bench.machine import Machine
from ontosub.bench.ratios import Ratio, ratios
from ontosub.bench.runner import Measurement, Outcome

FIELDS = (
    *("workload", "size", "seed", "engine", "is_peer", "subscriptions", "events"),
    *("match_ms", "whole_ms", "bindings_ms", "prepare_s", "matches", "times_as_fast", "is_extrapolated", "counters"),
    *("cpu", "cores", "system", "python", "libraries"),
)


def table(outcome: Outcome) -> Table:
    """Return what the engines did on one workload, the fastest first."""
    workload = outcome.workload
    shown = Table(
        title=f"{workload.name}: {workload.size:,} subscriptions of {workload.arcs:.1f} arcs, "
        f"events of {workload.triples:,.0f} triples",
        title_justify="left",
    )
    with_bindings = any(each.bindings_ms is not None for each in outcome.measurements)
    with_counters = any(each.counters for each in outcome.measurements)
    shown.add_column("engine")
    columns = ["subscriptions", "events", "match ms", "from bytes ms", *(["bindings ms"] if with_bindings else [])]
    for column in [*columns, "× best peer", "matches", "prepare s", *(["counted"] if with_counters else [])]:
        shown.add_column(column, justify="right")
    relative = ratios(outcome)
    for each in sorted(outcome.measurements, key=lambda each: each.match_ms * workload.size / each.subscriptions):
        bindings = [_number(each.bindings_ms)] if with_bindings else []
        counters = [_counters(each)] if with_counters else []
        shown.add_row(
            each.engine,
            _share(each.subscriptions, workload.size),
            str(each.events),
            _number(each.match_ms),
            _number(each.whole_ms),
            *bindings,
            ratio_text(relative[each.engine]),
            _number(each.matches),
            _number(each.prepare_s),
            *counters,
        )
    return shown


def remarks(outcome: Outcome) -> Iterator[str]:
    """Yield what a reader of the table must know."""
    size = outcome.workload.size
    rates = [each.matches / each.subscriptions for each in outcome.measurements if each.subscriptions == size]
    if rates:
        yield f"Of the subscriptions, {rates[0]:.3%} match an event, on average over the events checked."
    if any(each.subscriptions < size for each in outcome.measurements):
        yield f"Engines with fewer than {size:,} subscriptions were timed with just these; their times are for these."
    if any(ratio is not None and ratio.is_extrapolated for ratio in ratios(outcome).values()):
        yield "≈ marks ratios for which a time was extrapolated in proportion to the number of subscriptions."
    if any(each.subscriptions < size and not each.is_linear for each in outcome.measurements):
        yield "– stands where a time at full size cannot be told from a smaller one; such a peer may be the best one."
    for engine, reason in outcome.left_out:
        yield f"{engine} is left out: {reason}."


def ratio_text(ratio: Ratio | None) -> str:
    """Return a ratio as it is shown."""
    return "–" if ratio is None else f"{'≈' if ratio.is_extrapolated else ''}{_number(ratio.times)}×"


def write_csv(file: TextIO, outcomes: Iterable[Outcome], machine: Machine) -> None:
    """Write one line for each engine on each workload, with the machine on each of them."""
    writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
    writer.writeheader()
    for outcome in outcomes:
        relative = ratios(outcome)
        for each in outcome.measurements:
            writer.writerow({**_row(outcome, each, relative[each.engine]), **_machine(machine)})


def _row(outcome: Outcome, each: Measurement, ratio: Ratio | None) -> dict[str, object]:
    return {
        "workload": outcome.workload.name,
        "size": outcome.workload.size,
        "seed": outcome.workload.seed,
        "engine": each.engine,
        "is_peer": each.is_peer,
        "subscriptions": each.subscriptions,
        "events": each.events,
        "match_ms": each.match_ms,
        "whole_ms": each.whole_ms,
        "bindings_ms": each.bindings_ms,
        "prepare_s": each.prepare_s,
        "matches": each.matches,
        "times_as_fast": None if ratio is None else ratio.times,
        "is_extrapolated": None if ratio is None else ratio.is_extrapolated,
        "counters": _counters(each),
    }


def _machine(machine: Machine) -> dict[str, object]:
    libraries = " ".join(f"{name}={number}" for name, number in machine.libraries.items())
    return {
        "cpu": machine.cpu,
        "cores": machine.cores,
        "system": machine.system,
        "python": machine.python,
        "libraries": libraries,
    }


def _counters(measurement: Measurement) -> str:
    return " ".join(f"{name}={value:.0f}" for name, value in measurement.counters.items())


def _share(ran: int, size: int) -> str:
    return f"{ran:,}" if ran == size else f"{ran:,} of {size:,}"


def _number(value: float | None) -> str:
    """Return a number with about three digits that mean something."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
