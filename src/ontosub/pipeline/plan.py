"""What a pipeline is to do: where events come from, what they are matched against, and where matches go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ontosub.pipeline.checkpoint import State
from ontosub.pipeline.composing import Timing
from ontosub.pipeline.standing import Say, Standing
from ontosub.sinks import Sink
from ontosub.spark.payloads import Options
from ontosub.spark.sources import Source


@dataclass(frozen=True, slots=True)
class Plan:
    """A pipeline, ready to run. Its `name` stands in every notification: sinks know its batches by it."""

    name: str
    source: Source
    standing: Callable[[State, Say], Standing]
    state: Path
    sinks: Sequence[Sink] = ()
    dead_letters: Sequence[Sink] = ()
    options: Options | None = field(default_factory=dict)
    bindings: bool = True
    trigger: str = "0 seconds"
    timing: Timing = field(default_factory=Timing)
