"""Subscriptions in files that are watched: each file is one, or a composite, and they may change at any time."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ontosub.inputs.definitions import read_subscriptions
from ontosub.inputs.faults import diagnostic_of
from ontosub.inputs.files import LANGUAGES, found
from ontosub.matching import Matcher
from ontosub.matching.compiled.files.fingerprint import fingerprint
from ontosub.model import Diagnostic, Ontology, Subscription
from ontosub.model.composite import Composite
from ontosub.model.errors import IndexDirectoryError, OntosubError, OntosubWarning, UsageError
from ontosub.pipeline.standing import Say, Standing, reopened_shards
from ontosub.spark.sharding.sharded_index import ShardedIndex
from ontosub.spark.sharding.shards import Shards
from ontosub.spark.task_index import TaskIndex
from ontosub.spark.worker_index import WorkerIndex

Files = Mapping[Path, object]
"""Files, each with what changes when it does."""


class WatchedFiles(Standing):
    """Files, and folders of them, each file a subscription or a composite, with an index of our own in `directory`.

    What cannot be used is told, and what its file held before stays. Subscriptions that are written inside composites
    are in the index as well. Without `bindings` there can be no composites: they go by what is bound.
    """

    def __init__(
        self,
        paths: Iterable[Path],
        language: str | None,
        ontology: Ontology,
        directory: Path,
        say: Say,
        *,
        shards: int | None = None,
        bindings: bool = True,
    ) -> None:
        self._paths, self._language, self._say = list(paths), language, say
        self._bindings = bindings
        self.composites: dict[str, Composite] = {}
        self._directory = directory
        self._fingerprint = fingerprint(ontology)
        self._matcher: Matcher | Shards = (
            _reopened(directory, ontology) if shards is None else reopened_shards(directory, ontology, shards)
        )
        self._has_changed = False
        self._seen: Files = {}
        self._read: Files = {}
        self._origins: dict[str, Path] = {}
        """The file that each standing subscription or composite came from."""
        self._start()

    def index(self) -> TaskIndex:
        if isinstance(self._matcher, Shards):
            return ShardedIndex.open(self._directory)
        return WorkerIndex(str(self._directory), self._fingerprint)

    def refresh(self) -> None:
        """Take over what has changed."""
        seen = self._look()
        if seen != self._seen:
            self._take(seen)

    def _start(self) -> None:
        """Read everything, and fail when something cannot be read: at the start somebody is there to mend it."""
        for path in self._paths:
            if not path.exists():
                raise UsageError(f"subscriptions: {path}: there is no such file or folder")
        seen = self._look()
        if not seen:
            raise UsageError("subscriptions: there are none; name files, or a folder that holds some")
        faults = self._take(seen)
        if faults:
            raise UsageError(f"subscriptions: {faults} of {len(seen)} cannot be used")
        if not self._directory.exists():
            self._matcher.save(self._directory)

    def _look(self) -> Files:
        """Return the files that are there now."""
        files: dict[Path, object] = {}
        for path in self._paths:
            with suppress(UsageError):  # a folder may be empty for a while, and a file gone for good
                for file in found([path], LANGUAGES, "subscriptions"):
                    with suppress(FileNotFoundError):
                        told = file.stat()
                        files[file] = told.st_mtime_ns, told.st_size, told.st_ino
        return files

    def _take(self, seen: Files) -> int:
        """Make the index hold what is in the files, and nothing else; return how many faults were told."""
        by_id: dict[str, list[Path]] = {}
        for path in seen:
            by_id.setdefault(path.stem, []).append(path)
        clear = {paths[0]: seen[paths[0]] for paths in by_id.values() if len(paths) == 1}
        faults = [_same_id(name, paths) for name, paths in by_id.items() if len(paths) > 1]
        self._origins = {name: path for name, path in self._origins.items() if path in seen}
        # Subscriptions first: composites are made of what then stands.
        faults += self._take_subscriptions(clear)
        faults += self._take_composites([path for path in clear if self._written_in(path) == "composite"])
        self._drop()
        self._seen, self._read = seen, clear
        for fault in faults:
            self._say(fault)
        if self._has_changed:
            self._matcher.save(self._directory)
            self._has_changed = False
        return len(faults)

    def _take_subscriptions(self, clear: Files) -> list[Diagnostic]:
        changed = [path for path, state in clear.items() if self._read.get(path) != state]
        rules = [path for path in clear if self._written_in(path) == "mdv"]
        if set(rules) & set(changed):  # they may extend each other, and are read together
            changed = list(dict.fromkeys([*changed, *rules]))
        paths = [path for path in changed if self._written_in(path) != "composite"]
        subscribed = read_subscriptions(paths, self._language)
        faults = list(subscribed.faults)
        for name, subscription in subscribed.subscriptions.items():
            refused = self._subscribe(subscription, subscribed.sources[name])
            faults += refused
            if not refused:
                self._origins[name] = Path(subscribed.sources[name])
        return faults

    def _take_composites(self, paths: list[Path]) -> list[Diagnostic]:
        former = {name: each for name, each in self.composites.items() if self._is_composite(name)}
        standing = self._matcher.subscriptions
        names = {name: standing[name] for name in self._origins if not self._is_composite(name)}
        read = read_subscriptions(paths, self._language, names=names)
        faults = list(read.faults)
        for name, composite in read.composites.items():
            source = read.sources[name]
            refused = [] if self._bindings else [_without_bindings(source)]
            for inside in composite.subscriptions if not refused else ():
                refused += self._subscribe(inside, source)
            faults += refused
            if not refused:
                self._origins[name] = Path(source)
                former[name] = composite
        self.composites = former
        return faults

    def _drop(self) -> None:
        """Let go of what came from files that are gone, and of what stands inside composites that are."""
        inside = {each.id for composite in self.composites.values() for each in composite.subscriptions}
        standing = (self._origins.keys() - self.composites.keys()) | inside
        for name in [name for name in self._matcher.subscriptions if name not in standing]:
            self._matcher.unsubscribe(name)
            self._has_changed = True

    def _is_composite(self, name: str) -> bool:
        return name in self._origins and self._written_in(self._origins[name]) == "composite"

    def _written_in(self, path: Path) -> str | None:
        return self._language or LANGUAGES.get(path.suffix)

    def _subscribe(self, subscription: Subscription, source: str) -> list[Diagnostic]:
        """Have a subscription in the index, and return why that failed, if it did: then what was there stays."""
        former = self._matcher.subscriptions.get(subscription.id)
        if former == subscription:
            return []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OntosubWarning)  # doubts are told below
            if former is not None:
                self._matcher.unsubscribe(former.id)
            try:
                for doubt in self._matcher.subscribe(subscription):
                    self._say(replace(doubt, source=source))
            except OntosubError as error:
                if former is not None:
                    self._matcher.subscribe(former)
                return [diagnostic_of(error, source)]
        self._has_changed = True
        return []


def _same_id(name: str, paths: list[Path]) -> Diagnostic:
    return Diagnostic(f"{' and '.join(map(str, paths))} would both have the id {name!r}: rename one")


def _without_bindings(source: str) -> Diagnostic:
    message = "composites go by what matches bind, and this pipeline has bindings = false"
    return Diagnostic(message, hint="Leave that option out.", source=source)


def _reopened(directory: Path, ontology: Ontology) -> Matcher:
    """Return the index of the last run, or a new one when there is none for this ontology."""
    if directory.exists():
        try:
            return Matcher.open(directory, ontology, algorithm="provisional")
        except IndexDirectoryError:
            shutil.rmtree(directory)
    return Matcher(ontology, "provisional")
