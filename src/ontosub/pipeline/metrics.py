"""Where a pipeline stands, for Prometheus."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

from ontosub.model.errors import UsageError
from ontosub.pipeline.batches import Done


class Metrics:
    """The metrics of one pipeline, each with its name as the label `pipeline`; overruns also by `composite`."""

    def __init__(self, pipeline: str) -> None:
        self.registry = CollectorRegistry()
        self._pipeline = pipeline

        def counter(name: str, told: str) -> Counter:
            return Counter(f"ontosub_{name}", told, ["pipeline"], registry=self.registry).labels(pipeline)

        self._payloads = counter("events", "Payloads that were read, good or bad")
        self._matches = counter("matches", "Matches that were delivered")
        self._rejects = counter("rejects", "Dead letters that were delivered")
        self._detections = counter("detections", "Composite events that were delivered")
        self._late = counter("late", "Matches that came too late for composites")
        self._untimed = counter("untimed", "Matches that composites could not use, because they have no time")
        self._overruns = Counter(
            "ontosub_overruns",
            "Instances for which a composite did not try all combinations: it may lack detections",
            ["pipeline", "composite"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "ontosub_batch_seconds", "How long micro-batches take", ["pipeline"], registry=self.registry
        ).labels(pipeline)
        self._lag = Gauge("ontosub_lag_events", "Events that wait", ["pipeline"], registry=self.registry).labels(
            pipeline
        )

    def serve(self, port: int) -> int:
        """Serve the metrics on the loopback address, and return the port, which is any free one for 0."""
        try:
            server, _ = start_http_server(port, addr="127.0.0.1", registry=self.registry)
        except (OSError, OverflowError) as error:
            raise UsageError(f"metrics port {port}: cannot be used: {error}") from error
        return int(server.server_port)

    def add(self, done: Done) -> None:
        """Take in a batch."""
        self._payloads.inc(done.outcome.payloads)
        self._matches.inc(done.outcome.matches)
        self._rejects.inc(done.outcome.rejects)
        self._detections.inc(done.outcome.detections)
        self._late.inc(done.outcome.late)
        self._untimed.inc(done.outcome.untimed)
        for name, count in done.outcome.overruns.items():
            self._overruns.labels(self._pipeline, name).inc(count)
        self._seconds.observe(done.seconds)

    def lag(self, events: int | None) -> None:
        """Note how many events wait."""
        if events is not None:
            self._lag.set(events)
