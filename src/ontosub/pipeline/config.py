"""A pipeline as its owner writes it down: a file in TOML, or the same values from the command line.

name = "auction"
ontology = "ontology"
subscriptions = "subscriptions"      # watched while the pipeline runs; or index = "a saved index"
state = "auction.state"

[source]
kind = "files"                       # or "log", "kafka"
path = "events"

[[sinks]]
kind = "sql"                         # or "parquet", "json", "webhook", "kafka", "print"
url = "sqlite:///notifications.db"
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_type_hints

from ontosub.inputs.definitions import ontology_files
from ontosub.inputs.option_types import check_type, duration
from ontosub.model import Ontology
from ontosub.model.errors import UsageError
from ontosub.pipeline.checkpoint import State
from ontosub.pipeline.composing import Timing
from ontosub.pipeline.plan import Plan
from ontosub.pipeline.standing import SavedIndex, Say, ShardedCopy, Standing
from ontosub.pipeline.watched_files import WatchedFiles
from ontosub.sinks import Sink
from ontosub.sinks.kinds import SINKS
from ontosub.spark.decoding import decode
from ontosub.spark.sources.kinds import SOURCES

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SPAN = re.compile(r"\d+(\.\d+)? ?(milliseconds?|ms|seconds?|s|minutes?|min|hours?|h)")


@dataclass(frozen=True, slots=True)
class Config:
    """What a configuration says. Paths are relative to the working directory."""

    name: str
    source: Mapping[str, Any]
    state: str
    ontology: str | Sequence[str] = ()
    subscriptions: str | Sequence[str] = ()
    index: str | None = None
    shards: int | None = None  # into how many parts the index is split, where it is too large for a worker
    language: str | None = None
    sinks: Sequence[Mapping[str, Any]] = ()
    dead_letters: Sequence[Mapping[str, Any]] = ()
    events: Mapping[str, Any] = field(default_factory=dict)
    bindings: bool = True
    trigger: str = "0 seconds"
    lateness: str = "0 s"
    lifetime: str | None = None
    master: str = "local[*, 4]"  # a worker that dies costs its task, not the pipeline
    spark: Mapping[str, str] = field(default_factory=dict)

    def plan(self) -> Plan:
        """Return the pipeline that is meant. Raises UsageError, or another OntosubError, that names the option."""
        self._check()
        options = dict(self.source)
        source = SOURCES.made(_kind("source", options), options)
        return Plan(
            name=self.name,
            source=source,
            standing=self._standing,
            state=Path(self.state),
            sinks=self._made("sinks", self.sinks),
            dead_letters=self._made("dead_letters", self.dead_letters or [self._kept_dead_letters]),
            options=decode(**_reading(self.events)).options,
            bindings=self.bindings,
            trigger=self.trigger,
            timing=self._timing,
        )

    @property
    def needs_kafka(self) -> bool:
        """Whether Spark's Kafka connector must be there."""
        return self.source.get("kind") == "kafka"

    @property
    def _kept_dead_letters(self) -> Mapping[str, Any]:
        return {"kind": "json", "path": str(Path(self.state, "dead_letters"))}

    @property
    def _timing(self) -> Timing:
        lifetime = None if self.lifetime is None else duration("lifetime", self.lifetime)
        return Timing(duration("lateness", self.lateness), lifetime)

    def _check(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise UsageError(f"name: {self.name!r} should be letters, digits, points, dashes, beginning with no point")
        if not _SPAN.fullmatch(self.trigger):
            raise UsageError(f'trigger: {self.trigger!r} is no span of time: give one like "500 milliseconds"')
        if bool(self.index) == bool(self.subscriptions):
            raise UsageError("subscriptions: give files or folders of them, or index, the folder of a saved index")

    def _standing(self, state: State, say: Say) -> Standing:
        files = ontology_files(map(Path, _listed(self.ontology)))
        if self.index is not None:
            known = Ontology.read(*files) if files else None
            if self.shards is None:
                return SavedIndex(Path(self.index), known)
            return ShardedCopy(Path(self.index), known, self.shards, state.index)
        paths = map(Path, _listed(self.subscriptions))
        ontology = Ontology.read(*files)
        return WatchedFiles(
            paths, self.language, ontology, state.index, say, shards=self.shards, bindings=self.bindings
        )

    def _made(self, where: str, sinks: Sequence[Mapping[str, Any]]) -> list[Sink]:
        made = []
        for number, given in enumerate(sinks, 1):
            options = dict(given)
            kind = _kind(f"{where} {number}", options)
            if kind == "webhook":  # it cannot remember what it was given
                options.setdefault("state", str(Path(self.state, "deliveries", f"{where}-{number}.db")))
            made.append(SINKS.made(kind, options))
        return made


def read_config(path: Path) -> Config:
    """Read a configuration. What it leaves out is named after its file.

    Raises UsageError that names the option, or the line where the file is not TOML.
    """
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: it is not UTF-8") from None
    return config_of({"name": path.stem, "state": f"{path.stem}.state", **told}, str(path))


def config_of(told: Mapping[str, Any], where: str) -> Config:
    """Return a configuration from its values. Raises UsageError that names the option, as said of `where`."""
    known = {each.name: each for each in fields(Config)}
    types = get_type_hints(Config)
    for name, value in told.items():
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
            raise UsageError(f"{where}: there is no option {name}: {hint}")
        check_type(f"{where}: {name}", value, types[name])
    if "source" not in told:
        raise UsageError(f"{where}: the option source is missing: it says where events come from")
    return Config(**told)


def _kind(where: str, options: dict[str, Any]) -> str:
    kind = options.pop("kind", None)
    if not isinstance(kind, str):
        raise UsageError(f"{where}: the option kind is missing")
    return kind


def _listed(paths: str | Sequence[str]) -> Sequence[str]:
    return [paths] if isinstance(paths, str) else paths


def _reading(events: Mapping[str, Any]) -> dict[str, Any]:
    """Return options for `decode`: contexts and mappings are files, and tables have the options of one format."""
    formats = {name: _reading(value) for name, value in events.items() if isinstance(value, Mapping)}
    known = ("base", "context", "vocab", "mapping", "delimiter")
    options: dict[str, Any] = {"formats": formats} if formats else {}
    for name, value in events.items():
        if name not in known and name not in formats:
            raise UsageError(f"events: there is no option {name}: choose from {', '.join(known)}, or name a format")
        if name in known:
            check_type(f"events: {name}", value, str)
            options[name] = Path(value) if name in ("context", "mapping") else value
    return options
