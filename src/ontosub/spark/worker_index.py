"""The index on its way to the workers: a directory that each of them maps into memory.

The driver knows where it is; a worker opens what it finds there when a task starts, and keeps it open for the next
tasks as long as it is the version that the directory holds. Until the kernels of its machine are compiled, the naive
algorithm answers.
"""

from __future__ import annotations

import atexit
import gc
import shutil
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Self

import pyarrow as pa

from ontosub.matching import Matcher
from ontosub.matching.compiled.files.directory import Manifest, read_manifest
from ontosub.matching.compiled.files.fingerprint import fingerprint
from ontosub.matching.compiled.files.snapshot import take_snapshot
from ontosub.model import Ontology, Subscription
from ontosub.model.errors import OntosubWarning, UsageError
from ontosub.spark.answering import matched
from ontosub.spark.passing import Made
from ontosub.spark.payloads import Options
from ontosub.spark.task_index import TaskIndex

_open: dict[str, tuple[Manifest, Matcher]] = {}
"""The version of each index that this process has open."""

_unsettled: set[str] = set()
"""The indices that were opened since the collector last let go of what is loaded."""


@dataclass(frozen=True, slots=True)
class WorkerIndex(TaskIndex):
    """Where an index is, and the fingerprint of the ontology that it must have been made with."""

    directory: str
    fingerprint: str

    @classmethod
    def of(cls, ontology: Ontology | None, subscriptions: Iterable[Subscription] | Matcher | str | Path) -> WorkerIndex:
        """Return the index of subscriptions, saved for the workers unless it is the path of one.

        Raises IndexDirectoryError when a path leads to no index, to a corrupt one, or to one of another ontology.
        """
        if ontology is not None and not isinstance(ontology, Ontology):
            raise UsageError(f"the ontology is of type {type(ontology).__name__}: read it with Ontology.read")
        if isinstance(subscriptions, str | Path):
            directory = Path(subscriptions).resolve()
            matcher = Matcher.open(directory, ontology, algorithm="provisional")
        else:
            matcher = _copied(ontology, subscriptions)
            directory = _saved(matcher)
        return cls(str(directory), fingerprint(matcher.ontology))

    def current(self) -> Matcher:
        """Return a matcher with the version that the directory holds now, opened only if this process has it not."""
        directory = Path(self.directory)
        while True:
            manifest = read_manifest(directory, fingerprint=self.fingerprint)
            known = _open.get(self.directory)
            if known is not None and known[0] == manifest:
                _settle()
                return known[1]
            opened = Matcher.open(directory, algorithm="provisional", verify=False)
            # Kept only if it is known which version was opened: another may have been saved meanwhile.
            if read_manifest(directory) == manifest:
                for other in [other for other in _open if not Path(other).exists()]:
                    del _open[other]
                _open[self.directory] = manifest, opened
                _unsettle(self.directory)
                return opened

    def matching(self, options: Options | None, *, bindings: bool, encoded: bool = False) -> Callable[[pa.Table], Made]:
        """Return what a task does: match tables, with the version that is there when the first of them comes."""
        matcher: Matcher | None = None

        def make(table: pa.Table) -> Made:
            nonlocal matcher
            if matcher is None:
                matcher = self.current()
            return matched(matcher, table, options, bindings=bindings, encoded=encoded)

        return make

    def version(self) -> int:
        return read_manifest(Path(self.directory), fingerprint=self.fingerprint).generation

    def copied(self, into: Path) -> int:
        return take_snapshot(Path(self.directory), into, fingerprint=self.fingerprint).generation

    def at(self, directory: Path) -> Self:
        return type(self)(str(directory), self.fingerprint)

    def subscription_ids(self) -> list[str]:
        return list(Matcher.open(self.directory, algorithm="provisional", verify=False).subscriptions)


def _unsettle(directory: str) -> None:
    """Let the next collection find what an index has left that this process had open before."""
    gc.unfreeze()
    _unsettled.add(directory)


def _settle() -> None:
    """Take the indices that former tasks have opened, and all else that is loaded, out of the collector's sight.

    Spark has workers collect garbage after every task, and would have them go through all of it: a tenth of a second.
    """
    if _unsettled:
        _unsettled.clear()
        gc.freeze()


def close(directories: Iterable[str]) -> None:
    """Let go of the indices in some directories, if this process has them open."""
    for directory in directories:
        _open.pop(directory, None)


def _copied(ontology: Ontology | None, subscriptions: Iterable[Subscription] | Matcher) -> Matcher:
    """Return a matcher of our own: saving the user's would tie it to our directory."""
    if isinstance(subscriptions, Matcher):
        if ontology is not None and ontology != subscriptions.ontology:
            raise UsageError("the matcher has another ontology than the one given: give None to take the matcher's")
        copy = Matcher(subscriptions.ontology, "provisional")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OntosubWarning)  # its owner has been warned
            _subscribe(copy, subscriptions.subscriptions.values())
        return copy
    copy = Matcher(ontology, "provisional")
    _subscribe(copy, subscriptions)
    return copy


def _subscribe(matcher: Matcher, subscriptions: Iterable[Subscription]) -> None:
    if not isinstance(subscriptions, Iterable):
        raise UsageError("subscriptions are an iterable of Subscription, a Matcher, or the path of an index")
    for subscription in subscriptions:
        if not isinstance(subscription, Subscription):
            raise UsageError(f"{subscription!r} is no subscription: make it one with Subscription.parse")
        matcher.subscribe(subscription)


def _saved(matcher: Matcher) -> Path:
    """Save a matcher where it stays until this process ends: frames are lazy, and may need it at any time."""
    directory = Path(mkdtemp(prefix="ontosub-index-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    matcher.save(directory)
    return directory
