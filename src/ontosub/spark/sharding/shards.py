"""Subscriptions on their way into shards: several indices in one directory, and the table that leads to them.

shards     the routing table
0/  1/  …  an index for each shard
"""

from __future__ import annotations

import warnings
from collections import ChainMap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

from ontosub.matching import Matcher
from ontosub.matching.compiled.files.directory import read_manifest
from ontosub.matching.compiled.files.fingerprint import fingerprint
from ontosub.matching.kernel_cache import KERNELS
from ontosub.model import Diagnostic, Ontology, Subscription
from ontosub.model.errors import IndexDirectoryError, OntosubWarning, UsageError
from ontosub.model.terms import NamedNode
from ontosub.semantics import Entailment
from ontosub.spark.sharding.placing import Place, chosen_classes, placed_anew, placed_beside, weight_of
from ontosub.spark.sharding.requiring import Requirements
from ontosub.spark.sharding.sharded_index import ShardedIndex
from ontosub.spark.sharding.table import Table, is_sharded, read_table, shard_path, write_table

SHARDS_MAX = 10_000


def shard_index(
    ontology: Ontology | None,
    subscriptions: Iterable[Subscription] | Matcher | str | Path,
    directory: str | Path,
    *,
    shards: int,
) -> ShardedIndex:
    """Save subscriptions as a sharded index into a directory, which must be new or empty.

    `subscriptions` are subscriptions, a matcher or the path of an index; with the latter two, None takes the ontology
    that they have. `match` and `outcomes` take what is returned, or the directory. Raises IndexDirectoryError when the
    directory cannot be used.
    """
    given: Iterable[Subscription]
    if isinstance(subscriptions, str | Path):
        subscriptions = Matcher.open(subscriptions, ontology)
    if isinstance(subscriptions, Matcher):
        if ontology is not None and ontology != subscriptions.ontology:
            raise UsageError("the matcher has another ontology than the one given: give None to take the matcher's")
        ontology, given = subscriptions.ontology, subscriptions.subscriptions.values()
    else:
        given = subscriptions
    standing = Shards(Ontology() if ontology is None else ontology, shards)
    for subscription in given:
        standing.subscribe(subscription)
    standing.save(directory)
    return ShardedIndex.open(directory)


class Shards:
    """Subscriptions that are kept in shards: subscribe, unsubscribe and save, as with a Matcher.

    Events that are on their way to a former version must not find a newer one, since a subscription may be in another
    shard by then: so whoever saves into a directory that is in use has its version copied for who uses it.
    """

    def __init__(self, ontology: Ontology, shards: int) -> None:
        if not 1 <= shards <= SHARDS_MAX:
            raise UsageError(f"shards: {shards} is not a number from 1 to {SHARDS_MAX:,}")
        KERNELS.fill()  # events are routed by kernels
        self._ontology = ontology
        self._requirements = Requirements(Entailment(ontology))
        self._directory: Path | None = None
        self._matchers: list[Matcher] = []
        self._waiting = Matcher(ontology, "compiled")
        self._changed: set[int] = set(range(shards))
        self._generation = 0
        self._loads = [0] * shards
        self._routes: dict[NamedNode | None, frozenset[int]] = {}

    @classmethod
    def open(cls, directory: Path, ontology: Ontology) -> Self:
        """Return the shards that were saved into a directory. Raises IndexDirectoryError as ShardedIndex.open does."""
        index = ShardedIndex.open(directory, ontology)
        table = read_table(directory)
        shards = cls(ontology, len(index.generations))
        shards._directory, shards._generation, shards._loads = directory, table.generation, list(table.weights)
        shards._matchers = [Matcher.open(path, ontology, verify=False) for path in shards._paths(directory)]
        shards._changed = set()
        shards._routes = {NamedNode(class_): frozenset(found) for class_, found in table.classes.items()}
        if table.general:
            shards._routes[None] = frozenset(table.general)
        return shards

    def __len__(self) -> int:
        """Return how many shards there are."""
        return len(self._loads)

    @property
    def subscriptions(self) -> Mapping[str, Subscription]:
        """The standing subscriptions by id."""
        return ChainMap(*(each.subscriptions for each in (*self._matchers, self._waiting)))  # type: ignore[arg-type]

    def subscribe(self, subscription: Subscription) -> list[Diagnostic]:
        """Take in a subscription, as `Matcher.subscribe` does; the next `save` puts it into a shard."""
        standing = next((each for each in self._matchers if subscription.id in each.subscriptions), self._waiting)
        return standing.subscribe(subscription)

    def unsubscribe(self, id: str) -> None:
        """Forget a subscription."""
        for shard, matcher in enumerate(self._matchers):
            if id in matcher.subscriptions:
                self._loads[shard] -= weight_of(matcher.subscriptions[id])
                matcher.unsubscribe(id)
                self._changed.add(shard)
                return
        self._waiting.unsubscribe(id)

    def save(self, directory: str | Path) -> None:
        """Save into the directory that these shards are from, what has changed; or into one that is new or empty.

        Only shards whose subscriptions have changed are written. A crash leaves the former version, a new one, or a
        directory that `open` refuses.
        """
        directory = Path(directory)
        if self._directory is None:
            _claim(directory)
            self._directory = directory
        elif self._directory.resolve() != directory.resolve():
            raise UsageError(f"these shards are in {self._directory}: they cannot be saved elsewhere")
        added = self._settled()
        for shard, path in enumerate(self._paths(directory)):
            if shard in self._changed:
                self._save_shard(shard, path, added[shard])
        self._changed = set()
        self._generation += 1
        write_table(directory, self._table(directory))

    def _paths(self, directory: Path) -> list[Path]:
        return [shard_path(directory, shard) for shard in range(len(self))]

    def _settled(self) -> list[list[Subscription]]:
        """Return what waits by the shard that it is to go to, and take note of how it will be found there."""
        waiting = list(self._waiting.subscriptions.values())
        self._waiting = Matcher(self._ontology, "compiled")
        added: list[list[Subscription]] = [[] for _ in self._loads]
        for subscription, place in zip(waiting, self._places(waiting), strict=True):
            added[place.shard].append(subscription)
            self._changed.add(place.shard)
            self._loads[place.shard] += weight_of(subscription)
            self._routes[place.class_] = self._routes.get(place.class_, frozenset()) | {place.shard}
        return added

    def _places(self, waiting: list[Subscription]) -> list[Place]:
        classes = chosen_classes(self._requirements, waiting)
        if self._matchers:
            return placed_beside(waiting, classes, self._loads, self._routes)
        return placed_anew(self._ontology, waiting, classes, len(self))

    def _save_shard(self, shard: int, path: Path, added: list[Subscription]) -> None:
        """Write a shard, and keep it open as a map of its files, not in memory of our own."""
        is_new = shard == len(self._matchers)
        matcher = Matcher(self._ontology, "compiled") if is_new else self._matchers[shard]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OntosubWarning)  # it was told when they came
            for subscription in added:
                matcher.subscribe(subscription)
        matcher.save(path)
        self._matchers[shard : shard + 1] = [Matcher.open(path, self._ontology, verify=False)]

    def _table(self, directory: Path) -> Table:
        classes = {class_.value: tuple(sorted(found)) for class_, found in self._routes.items() if class_ is not None}
        return Table(
            fingerprint(self._ontology),
            self._generation,
            tuple(read_manifest(path).generation for path in self._paths(directory)),
            tuple(self._loads),
            classes,
            tuple(sorted(self._routes.get(None, ()))),
        )


def _claim(directory: Path) -> None:
    """Make a directory, unless it is there and empty."""
    hint = "Give a directory that is new or empty."
    try:
        directory.mkdir(parents=True, exist_ok=True)
        taken = next(directory.iterdir(), None)
    except OSError as error:
        raise IndexDirectoryError((error.strerror or "it cannot be made").lower(), str(directory), hint) from error
    if taken is not None:
        what = "a sharded index already" if is_sharded(directory) else f"{taken.name!r}"
        raise IndexDirectoryError(f"the directory holds {what}", str(directory), hint)
