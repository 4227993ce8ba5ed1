"""`ontosub bench`: how fast matching is, next to other engines."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ontosub.bench import ENGINES, WORKLOADS, Conditions, Outcome, run
from ontosub.bench.machine import Machine
from ontosub.bench.plot import check_plot, plot
from ontosub.bench.report import remarks, table, write_csv
from ontosub.cli.faults import reported
from ontosub.model.errors import UsageError

WIDTH = 140
"""How wide a table may be where no terminal says so."""


def command(
    workload: Annotated[
        list[str] | None,
        typer.Option("--workload", "-w", metavar="NAME", help=f"{', '.join(WORKLOADS)}; repeat it. All when left out."),
    ] = None,
    size: Annotated[
        list[str] | None,
        typer.Option("--size", metavar="N", help="How many subscriptions: 1000, 10k, 1M. Repeat it for more sizes."),
    ] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option("--engine", "-e", metavar="NAME", help=f"{', '.join(ENGINES)}; repeat it. All when left out."),
    ] = None,
    events: Annotated[
        int | None, typer.Option("--events", min=1, metavar="N", help="How many events; 20, and 1 document for lubm.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="What the workload is drawn from.")] = 1,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.0, metavar="S", help="How long each engine may be timed.")
    ] = 5.0,
    bindings: Annotated[
        bool, typer.Option("--bindings", help="Also time all answers, where an engine gives them.")
    ] = False,
    pipeline: Annotated[
        bool, typer.Option("--pipeline", help="Time a pipeline on Spark instead, next to the matcher that it runs.")
    ] = False,
    composite: Annotated[
        bool,
        typer.Option("--composite", help="Time the detection of composite events instead, also next to DuckDB's join."),
    ] = False,
    shards: Annotated[
        list[int] | None,
        typer.Option("--shards", min=1, metavar="N", help="Show the memory of a worker instead, with so many shards."),
    ] = None,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write figures and machine as CSV.")] = None,
    plot_file: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw time over size: .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Time matching on generated workloads, next to other engines.

    Every engine's answers are checked against the definition of a match before any time is shown; a wrong one ends the
    command with exit code 2. Speed is shown relative to the fastest peer. Engines whose library is not installed are
    left out, and said so.

    \b
    Examples:
      ontosub bench --workload ops --size 10k
      ontosub bench --workload templates --size 1k --size 100k --engine clips --csv times.csv --plot times.png
      ontosub bench --pipeline
      ontosub bench --composite --events 200000
      ontosub bench --composite --pipeline --events 500000
      ontosub bench --workload mixed --size 100k --shards 1 --shards 4
    """
    if composite:
        with reported():
            timed = _time_composing if pipeline else _time_composites
            timed(events or 200_000, seed, [parse_size(text) for text in size or ["1000"]])
        return
    if pipeline:
        with reported():
            _time_pipeline(events or 160_000, seed)
        return
    if shards:
        with reported():
            names = _chosen(workload or ["mixed"], WORKLOADS, "workload")
            _weigh_shards(names, [parse_size(text) for text in size or ["100k"]], events or 200, seed, shards)
        return
    with reported():
        names = _chosen(workload, WORKLOADS, "workload")
        engines = _chosen(engine, ENGINES, "engine")
        sizes = [parse_size(text) for text in size or ()]
        if plot_file is not None:
            check_plot(plot_file)
        runs = [(name, number) for name in names for number in sizes or WORKLOADS[name].sizes]
        console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
        machine = Machine.here()
        console.print(str(machine), highlight=False)
        outcomes: list[Outcome] = []
        with _progress(len(runs) * (1 + len(engines))) as tell:
            for name, number in runs:
                kind = WORKLOADS[name]
                tell(f"{name} {number:,}: generating")
                generated = kind.generate(number, events or kind.events, seed)
                conditions = Conditions(seconds, bindings)
                outcomes.append(run(generated, (ENGINES[each]() for each in engines), conditions, tell))
                _show(outcomes[-1], console)
        if csv is not None:
            with csv.open("w", encoding="utf-8", newline="") as file:
                write_csv(file, outcomes, machine)
        if plot_file is not None:
            plot(outcomes, plot_file)


def parse_size(text: str) -> int:
    """Return the number that a size says.

    >>> parse_size("10k"), parse_size("1M"), parse_size("2_500")
    (10000, 1000000, 2500)
    """
    match = re.fullmatch(r"([0-9][0-9_]*)([kM]?)", text)
    number = int(match[1].replace("_", "")) * {"": 1, "k": 1_000, "M": 1_000_000}[match[2]] if match else 0
    if number < 1:
        raise UsageError(f"{text!r} is no size: write a number such as 500, 10k or 1M")
    return number


def _time_pipeline(events: int, seed: int) -> None:
    from ontosub.bench.pipeline import Setting, latency, throughput
    from ontosub.spark.embedded import session

    typer.echo(str(Machine.here()))
    spark = session()
    with TemporaryDirectory(prefix="ontosub-bench-") as folder:
        few = Setting(Path(folder, "templates"), "templates", 10_000, seed)
        late = latency(few, spark, rate=100, seconds=30)
        typer.echo(
            f"templates 10,000, 100 events/s for 30 s, to a SQL log: median {late.median * 1000:.0f} ms, "
            f"99th percentile {late.p99 * 1000:.0f} ms, {late.events:,} events with notifications"
        )
        many = Setting(Path(folder, "ops"), "ops", 10_000, seed)
        for bindings in (False, True):
            found = throughput(many, spark, events, bindings=bindings)
            typer.echo(
                f"ops 10,000, {'with' if bindings else 'without'} bindings, {found.matches_per_event:.0f} matches an "
                f"event: match_batch {found.single:,.0f} events/s on one core, pipeline {found.pipeline:,.0f} on "
                f"{found.cores}, {found.ratio:.0%} of what the cores could match"
            )
    spark.stop()


def _weigh_shards(names: Iterable[str], sizes: list[int], events: int, seed: int, counts: list[int]) -> None:
    from ontosub.bench.sharding import memory

    typer.echo(str(Machine.here()))
    for name, size in ((name, size) for name in names for size in sizes):
        with TemporaryDirectory(prefix="ontosub-bench-") as folder:
            for found in memory(Path(folder), WORKLOADS[name].generate(size, events, seed), counts):
                typer.echo(
                    f"{name} {size:,}, {found.shards} shards: the largest takes {found.stored / 1e6:,.1f} MB on disk, "
                    f"{found.resident / 1e6:,.1f} MB of a worker's memory; {found.matches:,} matches, as unsharded"
                )


def _time_composites(events: int, seed: int, sizes: list[int]) -> None:
    from ontosub.bench.composite import compare, matches, mixed, rate, sequences

    typer.echo(str(Machine.here()))
    stream = matches(events, seed)
    for size in sizes:
        found = rate(mixed(size, seed), stream)
        typer.echo(
            f"{size:,} composites of all kinds, {events:,} matches: {found.best:,.0f} matches/s on one core at best, "
            f"{found.overall:,.0f} over all; {found.detections:,} detections, {found.live:,} instances held"
        )
        both = compare(sequences(size, seed), stream)
        peer = "DuckDB is not installed"
        if both.duckdb is not None:
            peer = f"DuckDB's join of the whole history {both.duckdb:,.0f}, equal answers"
        typer.echo(f"{size:,} sequences, reuse: {both.ours:,.0f} matches/s; {peer}; {both.detections:,} detections")


def _time_composing(events: int, seed: int, sizes: list[int]) -> None:
    from ontosub.bench.composing import pipeline_rate, throughput
    from ontosub.bench.composite import matches, mixed
    from ontosub.spark.embedded import session

    typer.echo(str(Machine.here()))
    spark = session()
    stream = matches(events, seed)
    for size in sizes:
        with TemporaryDirectory(prefix="ontosub-bench-") as folder:
            found = throughput(spark, Path(folder, "stage"), mixed(size, seed), stream)
            alone = pipeline_rate(Path(folder, "pipeline"), mixed(size, seed), stream)
        typer.echo(
            f"{size:,} composites of all kinds on Spark, {events:,} matches: {found.overall:,.0f} matches/s on "
            f"{found.cores} cores, {found.best:,.0f} in the best micro-batch; {found.detections:,} detections; "
            f"{alone:,.0f} in the driver of a pipeline, with its history"
        )
    spark.stop()


def _chosen(asked: list[str] | None, known: Iterable[str], what: str) -> list[str]:
    names = list(known)
    for name in asked or ():
        if name not in names:
            raise UsageError(f"unknown {what} {name!r}: choose from {', '.join(names)}")
    return list(dict.fromkeys(asked or names))


def _show(outcome: Outcome, console: Console) -> None:
    console.print()
    console.print(table(outcome))
    for remark in remarks(outcome):
        console.print(remark, highlight=False, markup=False)


@contextmanager
def _progress(steps: int) -> Iterator[Callable[[str], None]]:
    """Give something to tell each step to: a bar on a terminal, lines on standard error elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda step: typer.echo(step, err=True)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, redirect_stdout=sys.stdout.isatty()) as progress:
        task = progress.add_task("", total=steps)
        begun = 0

        def tell(step: str) -> None:
            nonlocal begun
            progress.update(task, description=step, completed=begun)
            begun += 1

        yield tell
