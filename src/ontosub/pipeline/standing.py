"""The subscriptions that stand while a pipeline runs: in an index that somebody else saves, or in files that we watch.

Both are looked at before each micro-batch, when it is settled which events are in it: so a subscription that was there
before an event was published sees that event, and one that was removed before does not.
"""

from __future__ import annotations

import shutil
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from ontosub.inputs.definitions import Subscribed, read_subscriptions
from ontosub.inputs.faults import diagnostic_of
from ontosub.inputs.files import LANGUAGES, found
from ontosub.matching import Matcher
from ontosub.matching.compiled.files.fingerprint import fingerprint
from ontosub.model import Diagnostic, Ontology, Subscription
from ontosub.model.composite import Composite
from ontosub.model.errors import IndexDirectoryError, OntosubError, OntosubWarning, UsageError
from ontosub.spark.sharding.sharded_index import ShardedIndex, index_of
from ontosub.spark.sharding.shards import Shards
from ontosub.spark.sharding.table import is_sharded
from ontosub.spark.task_index import TaskIndex
from ontosub.spark.worker_index import WorkerIndex

Say = Callable[[Diagnostic], None]
"""Who is told what is wrong with a subscription."""


class Standing(ABC):
    """Where the subscriptions are, and the composites that are made of them."""

    composites: Mapping[str, Composite] = MappingProxyType({})

    @abstractmethod
    def index(self) -> TaskIndex:
        """Return the index that holds them."""

    @abstractmethod
    def refresh(self) -> None:
        """Bring the index up to date."""


class SavedIndex(Standing):
    """An index that `Matcher.save` made, and that its owner may save again at any time; or one that is sharded."""

    def __init__(self, directory: Path, ontology: Ontology | None) -> None:
        self._index = index_of(ontology, directory)

    def index(self) -> TaskIndex:
        return self._index

    def refresh(self) -> None:
        """Nothing is to be done: its owner does it."""


class ShardedCopy(Standing):
    """A saved index once more, in shards of our own: what its owner changes there is taken over."""

    def __init__(self, saved: Path, ontology: Ontology | None, shards: int, directory: Path) -> None:
        if is_sharded(saved):
            raise UsageError(f"shards: {saved} is sharded already: leave the option out")
        self._saved = WorkerIndex.of(ontology, saved)
        matcher = Matcher.open(saved, ontology, verify=False)
        self._ontology, self._directory = matcher.ontology, directory
        self._shards = _reopened_shards(directory, matcher.ontology, shards)
        self._version = -1
        self.refresh()

    def index(self) -> TaskIndex:
        return ShardedIndex.open(self._directory)

    def refresh(self) -> None:
        version = self._saved.version()
        if version != self._version:
            # Read before it is opened: a version that comes meanwhile is taken over the next time.
            wanted = Matcher.open(self._saved.directory, self._ontology, verify=False).subscriptions
            standing = self._shards.subscriptions
            changed = [each for each in wanted.values() if standing.get(each.id) != each]
            gone = [name for name in standing if name not in wanted]
            for name in [*gone, *(each.id for each in changed if each.id in standing)]:
                self._shards.unsubscribe(name)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OntosubWarning)  # its owner has been warned
                for subscription in changed:
                    self._shards.subscribe(subscription)
            if gone or changed or not self._directory.exists():
                self._shards.save(self._directory)
            self._version = version


class WatchedFiles(Standing):
    """Files, and folders of them, each file a subscription or a composite, with an index of our own in `directory`.

    Subscriptions that are written inside composites are in the index as well. Without `bindings` there can be no
    composites: they go by what is bound.
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
        self.composites = {}
        self._directory = directory
        self._fingerprint = fingerprint(ontology)
        self._matcher: Matcher | Shards = (
            _reopened(directory, ontology) if shards is None else _reopened_shards(directory, ontology, shards)
        )
        self._seen: Mapping[Path, object] = {}
        self._start()

    def index(self) -> TaskIndex:
        if isinstance(self._matcher, Shards):
            return ShardedIndex.open(self._directory)
        return WorkerIndex(str(self._directory), self._fingerprint)

    def refresh(self) -> None:
        """Take over what has changed; what cannot be read is told, and stays as it was."""
        seen = self._look()
        if seen != self._seen:
            changed = [path for path, state in seen.items() if self._seen.get(path) != state]
            self._take(self._with_others(changed, seen), seen)

    def _start(self) -> None:
        """Read everything, and fail when something cannot be read: at the start somebody is there to mend it."""
        for path in self._paths:
            if not path.exists():
                raise UsageError(f"subscriptions: {path}: there is no such file or folder")
        seen = self._look()
        if not seen:
            raise UsageError("subscriptions: there are none; name files, or a folder that holds some")
        faults = self._take(list(seen), seen)
        if faults:
            raise UsageError(f"subscriptions: {faults} of {len(seen)} cannot be used")
        if not self._directory.exists():
            self._matcher.save(self._directory)

    def _look(self) -> dict[Path, object]:
        """Return the files that are there now, with what changes when they do."""
        files: dict[Path, object] = {}
        for path in self._paths:
            with suppress(UsageError):  # a folder may be empty for a while, and a file gone for good
                for file in found([path], LANGUAGES, "subscriptions"):
                    with suppress(FileNotFoundError):
                        told = file.stat()
                        files[file] = told.st_mtime_ns, told.st_size, told.st_ino
        return files

    def _with_others(self, changed: list[Path], seen: Iterable[Path]) -> list[Path]:
        """Return what is to be read again: MDV rules may extend each other, and composites name what has changed."""
        written: dict[str | None, list[Path]] = {}
        for path in seen:
            written.setdefault(self._language or LANGUAGES.get(path.suffix), []).append(path)
        rules = written.get("mdv", [])
        related = [*(rules if set(rules) & set(changed) else ()), *written.get("composite", ())]
        return list(dict.fromkeys([*changed, *related]))

    def _take(self, paths: list[Path], seen: dict[Path, object]) -> int:
        """Make the index hold what is in the files, and nothing else; return how many of them cannot be used."""
        try:
            subscribed = read_subscriptions(paths, self._language, names=self._named(seen))
        except UsageError as error:  # two files with one id
            self._say(Diagnostic(str(error)))
            return 1
        faults = list(subscribed.faults)
        if not self._bindings:
            faults += [_without_bindings(subscribed.sources[name]) for name in subscribed.composites]
        ids = {path.stem for path in seen}
        self.composites = self._composed(subscribed, ids)
        inside = {each.id: (each, name) for name, made in self.composites.items() for each in made.subscriptions}
        standing = (ids - self.composites.keys()) | inside.keys()
        gone = [name for name in self._matcher.subscriptions if name not in standing]
        for name in gone:
            self._matcher.unsubscribe(name)
        wanted = [(each, name) for name, each in subscribed.subscriptions.items()] + list(inside.values())
        changed = [(each, name) for each, name in wanted if not self._has(each)]
        for subscription, name in changed:
            faults += self._replace(subscription, subscribed.sources[name])
        for fault in faults:
            self._say(fault)
        if gone or changed:
            self._matcher.save(self._directory)
        self._seen = seen
        return len(faults)

    def _composed(self, subscribed: Subscribed, ids: set[str]) -> dict[str, Composite]:
        """Return the composites that stand from now on: one whose file cannot be read now stays as it was."""
        if not self._bindings:
            return {}
        left = ids - subscribed.subscriptions.keys()
        return {**{name: each for name, each in self.composites.items() if name in left}, **subscribed.composites}

    def _named(self, seen: Iterable[Path]) -> dict[str, Subscription]:
        """Return the subscriptions that a composite may name, of those that stand."""
        standing = self._matcher.subscriptions
        return {path.stem: standing[path.stem] for path in seen if path.stem in standing}

    def _has(self, subscription: Subscription) -> bool:
        return self._matcher.subscriptions.get(subscription.id) == subscription

    def _replace(self, subscription: Subscription, source: str) -> list[Diagnostic]:
        """Subscribe, and return why that failed, if it did: then what was there stays."""
        former = self._matcher.subscriptions.get(subscription.id)
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
        return []


def _without_bindings(source: str) -> Diagnostic:
    message = "composites go by what matches bind, and this pipeline has bindings = false"
    return Diagnostic(message, hint="Leave that option out.", source=source)


def _reopened(directory: Path, ontology: Ontology) -> Matcher:
    """Return the index of the last run, or a new one when there is none for this ontology."""
    if directory.exists():
        try:
            return Matcher.open(directory, ontology)
        except IndexDirectoryError:
            shutil.rmtree(directory)
    return Matcher(ontology, "compiled")


def _reopened_shards(directory: Path, ontology: Ontology, shards: int) -> Shards:
    """Return the shards of the last run, or new ones when there are none for this ontology, or not as many."""
    if directory.exists():
        try:
            found = Shards.open(directory, ontology)
            if len(found) == shards:
                return found
        except IndexDirectoryError:
            pass
        shutil.rmtree(directory)
    return Shards(ontology, shards)
