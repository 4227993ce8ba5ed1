"""A pipeline while it runs: Spark calls for each micro-batch until all is read, somebody stops it, or it fails."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from shutil import disk_usage
from tempfile import gettempdir
from threading import Event as Signal
from threading import Lock

from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from ontosub.model.errors import OntosubError
from ontosub.pipeline.batches import Batches, Done
from ontosub.pipeline.checkpoint import State
from ontosub.pipeline.composing import Composing
from ontosub.pipeline.delivering import Delivering, Stopped
from ontosub.pipeline.plan import Plan
from ontosub.pipeline.snapshots import Snapshots
from ontosub.pipeline.staging import Staging
from ontosub.pipeline.standing import Say
from ontosub.spark.sources import Read

_PATIENCE_S = 1
"""How long a request to stop may go unnoticed."""

NO_ANSWER = (Py4JError, ConnectionError)
"""What calls to Spark raise when its JVM has ended."""

_FULL = "no space left on device"


class PipelineError(OntosubError):
    """A pipeline has failed: what is not delivered stays, and is delivered when it runs again."""


class Running:
    """One run of a pipeline."""

    def __init__(self, plan: Plan, spark: SparkSession, *, say: Say, on_done: Callable[[Done], None]) -> None:
        self._plan, self._spark, self._say, self._on_done = plan, spark, say, on_done
        self._stop = Signal()
        self._in_batch = Lock()
        self._failure: BaseException | None = None
        self.query: StreamingQuery | None = None

    def stop(self) -> None:
        """Ask it to end after the micro-batch at hand. May be called from anywhere, also from a signal handler."""
        self._stop.set()

    def run(self, *, once: bool = False) -> None:
        """Run until `stop` or, with `once`, until what is there now has been delivered.

        Raises OntosubError when an option cannot be used, before anything starts, and PipelineError when it fails.
        """
        plan = self._plan
        with ExitStack() as held:
            plan.source.check()
            state = held.enter_context(State(plan.state, plan.name, plan.source.identity()))
            for sink in (*plan.sinks, *plan.dead_letters):
                sink.open()
                held.callback(sink.close)
            rows = plan.source.rows(self._spark, endless=True)
            self.query = self._started(rows.frame, self._batches(state, rows.read), state, once=once)
            held.callback(_stop, self.query)
            self._wait(self.query)

    def _batches(self, state: State, read: Read | None) -> Batches:
        plan = self._plan
        standing = plan.standing(state, self._say)
        staging = Staging(state.staging)
        return Batches(
            standing,
            Snapshots(state.snapshots, standing.index()),
            Composing(state.composites, plan.timing),
            staging,
            Delivering(plan.name, state.first_batch, plan.sinks, plan.dead_letters, staging, self._stop, self._say),
            plan.options,
            plan.bindings,
            read,
            self._on_done,
            self._say,
        )

    def _started(self, frame: DataFrame, batches: Batches, state: State, *, once: bool) -> StreamingQuery:
        writer = frame.writeStream.queryName(self._plan.name).option("checkpointLocation", str(state.checkpoint))
        writer = writer.trigger(availableNow=True) if once else writer.trigger(processingTime=self._plan.trigger)

        def process(rows: DataFrame, batch: int) -> None:
            with self._in_batch:
                try:
                    if self._stop.is_set():
                        raise Stopped
                    batches.process(rows, batch)
                except BaseException as error:
                    # Spark would tell of it only as a text with the stacks of two languages.
                    self._failure = error
                    raise

        return writer.foreachBatch(process).start()

    def _wait(self, query: StreamingQuery) -> None:
        try:
            while not query.awaitTermination(_PATIENCE_S):
                if self._stop.is_set():
                    with self._in_batch:
                        pass  # the batch at hand is done, and the next one will not begin
                    query.stop()
                    return
        except (StreamingQueryException, *NO_ANSWER) as error:
            # Who ends a pipeline may end Spark's processes, too: the batch at hand comes again when it runs again.
            if not self._stop.is_set() or isinstance(self._failure, OntosubError):
                raise self._explained(error) from error

    def _explained(self, error: Exception) -> OntosubError:
        """Return what a failed query means to who runs the pipeline."""
        if isinstance(error, Py4JError | ConnectionError) and not isinstance(error, Py4JJavaError):
            return PipelineError("Spark's JVM has ended: it was killed, perhaps for want of memory")
        cause = self._failure or error
        if _FULL in str(cause).lower() and not isinstance(cause, OntosubError):
            # Spark does not say where. It writes to the state and to where programs put what they need for a while.
            places = [self._plan.state.absolute(), Path(gettempdir())]
            return PipelineError(f"{min(places, key=lambda place: disk_usage(place).free)}: {_FULL}")
        told = cause.diagnostic if isinstance(cause, OntosubError) else _reason(cause)
        return self._plan.source.explained(error) or PipelineError(told)


def _stop(query: StreamingQuery) -> None:
    with suppress(*NO_ANSWER):
        query.stop()


def _reason(error: BaseException) -> str:
    """Return what has gone wrong in a line or two: Spark tells it with the stacks of two languages."""
    text = str(error)
    if isinstance(error, PySparkException) and "Error: " in text:
        # What a worker raised is the last line of its traceback.
        lines = [line for line in text.splitlines() if "Error: " in line and not line.startswith((" ", "\t"))]
        text = lines[-1] if lines else text
    return f"{type(error).__name__}: {text.strip().splitlines()[0] if text.strip() else 'no more is known'}"
