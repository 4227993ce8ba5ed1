"""`ontosub run`: a pipeline from sources to sinks, on Spark."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ontosub.cli import options
from ontosub.cli.faults import reported, say
from ontosub.cli.status import StatusLine
from ontosub.cli.terminal import show
from ontosub.cli.warm import request_kernels
from ontosub.inputs.faults import diagnostic_of
from ontosub.model import Diagnostic, Severity
from ontosub.model.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from ontosub.pipeline.backtest import Backtest
    from ontosub.pipeline.config import Config
    from ontosub.pipeline.plan import Plan
    from ontosub.pipeline.running import Running

FAILED = 1
"""The exit code of a pipeline that fails while it runs: nothing is wrong with what it was given."""

_MAIN_OPTION = {
    "files": "path",
    "log": "directory",
    "parquet": "path",
    "json": "path",
    "sql": "url",
    "webhook": "url",
    "print": "format",
}
"""What stands behind the colon of a source or sink on the command line."""


def command(
    config: Annotated[
        Path | None, typer.Argument(metavar="CONFIG", help="A pipeline in TOML; see docs/PIPELINE.md.")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="KIND:WHERE", help="files:DIR, or log:DIR, an event log.")
    ] = None,
    ontology: options.Ontologies = None,
    subscription: options.Subscriptions = None,
    index: Annotated[Path | None, typer.Option("--index", metavar="DIR", help="A saved index, instead of -s.")] = None,
    sink: Annotated[
        list[str] | None,
        typer.Option(
            "--sink",
            metavar="KIND:WHERE",
            help="parquet:DIR, json:DIR, sql:URL, webhook:URL, or print, print:text, print:json; repeat it for more.",
        ),
    ] = None,
    state: Annotated[
        Path | None, typer.Option("--state", metavar="DIR", help="Where the pipeline keeps what must survive it.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="End when what is there now has been delivered.")] = False,
    backtest: Annotated[
        bool, typer.Option("--backtest", help="Deliver nothing: say how often each subscription would have fired.")
    ] = False,
    samples: Annotated[int, typer.Option("--samples", min=0, help="Matches to show for each, in a backtest.")] = 2,
    metrics_port: Annotated[
        int | None, typer.Option("--metrics-port", min=0, max=65535, help="Serve Prometheus metrics on loopback.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress line.")] = False,
    as_json: options.Json = False,
) -> None:
    """Run a pipeline: events from a source, matched, to every sink exactly once.

    It goes on until it is told to stop (Ctrl-C, SIGTERM), and then ends after the micro-batch at hand. Started again
    with the same state, it goes on where it was, after a crash, too: nothing is lost, and nothing is delivered twice.
    Paths in CONFIG are relative to its folder. Subscriptions that appear or disappear there are taken over meanwhile.

    \b
    Examples:
      ontosub run examples/auction/pipeline.toml --once
      ontosub run --source log:events.log -o auction.ttl -s rules/ --sink sql:sqlite:///notifications.db --state state
      ontosub run pipeline.toml --backtest --samples 5
    """
    with reported(), _settings(config, source, ontology, subscription, index, sink, state) as settings:
        plan = settings.plan()
        plan.source.check()
        request_kernels()
        spark = _session(settings)
        try:
            if backtest:
                _backtest(plan, spark, samples, as_json=as_json)
            else:
                _run(plan, spark, metrics_port, once=once, quiet=quiet, as_json=as_json)
        finally:
            _end(spark)


@contextmanager
def _settings(
    config: Path | None,
    source: str | None,
    ontology: list[Path] | None,
    subscription: list[Path] | None,
    index: Path | None,
    sink: list[str] | None,
    state: Path | None,
) -> Iterator[Config]:
    """Give the configuration, with what the command line says in place of what the file says."""
    try:
        from ontosub.pipeline.config import config_of, read_config
    except ImportError as error:
        raise UsageError(f"a pipeline needs {error.name}: pip install 'ontosub[run]'") from error

    given: dict[str, Any] = {
        "source": None if source is None else _short(source, "--source"),
        "ontology": [str(path.absolute()) for path in ontology or ()],
        "subscriptions": [str(path.absolute()) for path in subscription or ()],
        "index": None if index is None else str(index.absolute()),
        "sinks": [_short(each, "--sink") for each in sink or ()],
        "state": None if state is None else str(state.absolute()),
    }
    given = {name: value for name, value in given.items() if value}
    if config is None:
        if "state" not in given:
            raise UsageError("--state is missing: name a folder for what must survive the pipeline, or give a CONFIG")
        yield config_of({"name": "ontosub", **given}, "the command line")
        return
    settings = read_config(config)
    with chdir(config.parent):
        yield replace(settings, **given)


def _short(text: str, option: str) -> dict[str, str]:
    """Return the options of a source or sink from its short form, KIND:WHERE."""
    kind, _, where = text.partition(":")
    if kind == "print" and not where:
        return {"kind": kind}
    if kind not in _MAIN_OPTION or not where:
        example = "log:DIR" if option == "--source" else "parquet:DIR"
        raise UsageError(f"{option} {text}: give KIND:WHERE, like {example}")
    if "path" in _MAIN_OPTION[kind] or kind == "log":
        where = str(Path(where).absolute())
    return {"kind": kind, _MAIN_OPTION[kind]: where}


def _session(settings: Config) -> SparkSession:
    from ontosub.spark.embedded import session
    from ontosub.spark.packages import kafka_session

    start = kafka_session if settings.needs_kafka else session
    return start(settings.spark, name=settings.name, master=settings.master)


def _end(spark: SparkSession) -> None:
    from ontosub.pipeline.running import NO_ANSWER

    with suppress(*NO_ANSWER):
        spark.stop()


def _run(plan: Plan, spark: SparkSession, metrics_port: int | None, *, once: bool, quiet: bool, as_json: bool) -> None:
    from ontosub.pipeline.batches import Done
    from ontosub.pipeline.metrics import Metrics
    from ontosub.pipeline.progress import Progress, lag_of
    from ontosub.pipeline.running import PipelineError, Running

    progress, metrics = Progress(), Metrics(plan.name)
    if metrics_port is not None:
        port = metrics.serve(metrics_port)
        say(Diagnostic(f"metrics: http://127.0.0.1:{port}/metrics", Severity.NOTE))

    def add(done: Done) -> None:
        progress.add(done)
        metrics.add(done)
        metrics.lag(lag())

    def lag() -> int | None:
        query = running.query
        return None if query is None else lag_of(query.lastProgress)

    running = Running(plan, spark, say=say, on_done=add)
    try:
        with _stopping(running), StatusLine(lambda: progress.now(lag()).line(), shown=not quiet and not as_json):
            running.run(once=once)
    except PipelineError as error:
        say(diagnostic_of(error))
        raise typer.Exit(FAILED) from error
    told = progress.now()
    if as_json:
        totals = ("batches", "payloads", "matches", "detections", "rejects", "unused", "overruns")
        typer.echo(json.dumps({name: getattr(told, name) for name in totals}))
    elif not quiet:
        composed = f", {told.detections:,} composite events" if told.detections else ""
        unused = f", {told.unused:,} too late or without time for composites" if told.unused else ""
        overruns = f", {told.overruns:,} overruns of composites" if told.overruns else ""
        counted = f"{told.payloads:,} events, {told.matches:,} matches{composed}, {told.rejects:,} rejects"
        typer.echo(f"{counted}{unused}{overruns}", err=True)


@contextmanager
def _stopping(running: Running) -> Iterator[None]:
    """Stop a pipeline when the process is asked to end; asked twice, the process ends at once."""

    def stop(number: int, _frame: object) -> None:
        running.stop()
        for each in asked:
            signal.signal(each, signal.SIG_DFL)

    asked = (signal.SIGINT, signal.SIGTERM)
    former: dict[int, Any] = {each: signal.signal(each, stop) for each in asked}
    try:
        yield
    finally:
        for each, handler in former.items():
            signal.signal(each, handler)


def _backtest(plan: Plan, spark: SparkSession, samples: int, *, as_json: bool) -> None:
    from ontosub.pipeline.backtest import backtest

    with TemporaryDirectory(prefix="ontosub-backtest-") as folder:
        found = backtest(plan, spark, Path(folder), samples=samples, say=say)
    tell: Callable[[Backtest], None] = _show_json if as_json else _show
    tell(found)


def _show_json(found: Backtest) -> None:
    for fired in found.fired:
        told = {"subscription": fired.subscription_id, "events": fired.events, "samples": fired.samples}
        show(json.dumps(told, ensure_ascii=False))


def _show(found: Backtest) -> None:
    for fired in found.fired:
        is_composite = fired.subscription_id in found.composites
        of = "composite events" if is_composite else f"of {found.outcome.payloads:,} payloads' events"
        show(f"{fired.subscription_id}: {fired.events:,} {of}")
        for sample in fired.samples:
            answers = "; ".join(
                ", ".join(f"?{name} = {term}" for name, term in binding.items()) for binding in sample["bindings"]
            )
            events = " + ".join(sample.get("events", [sample["event"]]))
            show(f"    {events}" + (f": {answers}" if answers else ""))
    if found.outcome.untimed:
        typer.echo(f"{found.outcome.untimed:,} matches have no time, and are no part of composites", err=True)
    if found.outcome.rejects:
        typer.echo(f"{found.outcome.rejects:,} could not be read", err=True)
