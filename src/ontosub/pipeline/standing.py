"""The subscriptions that stand while a pipeline runs: in an index that somebody else saves, or in files that we watch.

Both are looked at before each micro-batch, when it is settled which events are in it: so a subscription that was there
before an event was published sees that event, and one that was removed before does not.
"""

from __future__ import annotations

import shutil
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from ontosub.matching import Matcher
from ontosub.model import Diagnostic, Ontology
from ontosub.model.composite import Composite
from ontosub.model.errors import IndexDirectoryError, OntosubWarning, UsageError
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
        matcher = Matcher.open(saved, ontology, algorithm="provisional", verify=False)
        self._ontology, self._directory = matcher.ontology, directory
        self._shards = reopened_shards(directory, matcher.ontology, shards)
        self._version = -1
        self.refresh()

    def index(self) -> TaskIndex:
        return ShardedIndex.open(self._directory)

    def refresh(self) -> None:
        version = self._saved.version()
        if version != self._version:
            # Read before it is opened: a version that comes meanwhile is taken over the next time.
            opened = Matcher.open(self._saved.directory, self._ontology, algorithm="provisional", verify=False)
            wanted = opened.subscriptions
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


def reopened_shards(directory: Path, ontology: Ontology, shards: int) -> Shards:
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
