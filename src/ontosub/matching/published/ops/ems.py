"""The EMS array: all valid meta-statements, each with its ancestors and the statement patterns that wait for it.

The paper's array is fixed by the concept model. Ours also takes in what a subscription or an event brings beyond it,
for as long as that needs it: a concept model may leave things out, and answers must not depend on that.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from math import prod

from ontosub.matching.published.concepts import Concepts
from ontosub.matching.published.ops.patterns import ANYTHING, Identifier, StatementPattern, SubscriptionGraph
from ontosub.matching.published.ops.tree import Rectangle
from ontosub.model import MetaStatement, Ontology
from ontosub.model.errors import LimitError
from ontosub.model.terms import NamedNode
from ontosub.semantics.hierarchy import Hierarchy

ITEMS_MAX = 200_000
"""The largest array that a concept model may make: its size is a product of three hierarchies."""


@dataclass(eq=False, slots=True)
class WaitingPattern:
    """A statement pattern in a waiting-pattern list, with all that are registered to it because they equal it.

    `subscriptions` are registered for good: the pattern starts at their home vertex. `observers` and `matched`, the
    objects that it has matched, belong to one event.
    """

    pattern: StatementPattern
    subscriptions: dict[SubscriptionGraph, None] = field(default_factory=dict)
    observers: list[Rectangle] = field(default_factory=list)
    matched: dict[Identifier, None] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class EmsItem:
    """A meta-statement with its ancestor list and its waiting-pattern list."""

    meta_statement: MetaStatement
    ancestors: list[EmsItem] = field(default_factory=list)
    waiting: dict[StatementPattern, WaitingPattern] = field(default_factory=dict)


class ExtendedMetaStatements:
    """The EMS array, in alphabetical order."""

    def __init__(self, ontology: Ontology, concepts: Concepts) -> None:
        """Raise LimitError if the concept model makes too many meta-statements."""
        self._concepts = concepts
        # Bounded, because events may bring classes without end.
        self._classes_above = lru_cache(maxsize=10_000)(self._all_classes_above)
        self.items = [EmsItem(meta_statement) for meta_statement in sorted(_valid(ontology), key=_order)]
        for item in self.items:
            item.ancestors = self._ancestors(item.meta_statement)
        self._fixed = {item.meta_statement for item in self.items}
        self._used: Counter[MetaStatement] = Counter()

    def find(self, meta_statement: MetaStatement) -> EmsItem | None:
        """Look up an item by binary search."""
        position = self._position(meta_statement)
        if position < len(self.items) and self.items[position].meta_statement == meta_statement:
            return self.items[position]
        return None

    def item(self, meta_statement: MetaStatement) -> EmsItem:
        """Return an item that is known to be there."""
        item = self.find(meta_statement)
        if item is None:
            raise KeyError(meta_statement)
        return item

    def take(self, meta_statement: MetaStatement) -> EmsItem:
        """Return the item of a meta-statement, which is added if it is new and stays until it is given back."""
        self._used[meta_statement] += 1
        return self.find(meta_statement) or self._insert(meta_statement)

    def give_back(self, meta_statement: MetaStatement) -> None:
        """Undo one `take`."""
        self._used[meta_statement] -= 1
        if not self._used[meta_statement]:
            del self._used[meta_statement]
            if meta_statement not in self._fixed:
                self._remove(meta_statement)

    def _position(self, meta_statement: MetaStatement) -> int:
        return bisect_left(self.items, _order(meta_statement), key=lambda item: _order(item.meta_statement))

    def _insert(self, meta_statement: MetaStatement) -> EmsItem:
        new = EmsItem(meta_statement, self._ancestors(meta_statement))
        for item in self.items:
            if self.is_ancestor(meta_statement, item.meta_statement):
                item.ancestors.append(new)
        self.items.insert(self._position(meta_statement), new)
        return new

    def _remove(self, meta_statement: MetaStatement) -> None:
        removed = self.items.pop(self._position(meta_statement))
        for item in self.items:
            if removed in item.ancestors:
                item.ancestors.remove(removed)

    def is_ancestor(self, wider: MetaStatement, narrower: MetaStatement) -> bool:
        """Say whether narrower ⊑ wider."""
        return (
            wider.property in self._concepts.property_ancestors(narrower.property)
            and wider.subject_class in self._classes_above(narrower.subject_class)
            and wider.object_class in self._classes_above(narrower.object_class)
        )

    def _ancestors(self, meta_statement: MetaStatement) -> list[EmsItem]:
        subject_class, property_, object_class = meta_statement
        wider = product(
            self._classes_above(subject_class),
            self._concepts.property_ancestors(property_),
            self._classes_above(object_class),
        )
        candidates = (MetaStatement(*parts) for parts in wider if parts != meta_statement)
        return [item for item in map(self.find, candidates) if item is not None]

    def _all_classes_above(self, class_: NamedNode) -> frozenset[NamedNode]:
        """Return the classes above one, whether resources or literals are in it.

        That is too much for either; but a statement pattern looks at the classes of the vertices themselves as well.
        """
        of_resource = self._concepts.class_ancestors(class_)
        return of_resource | self._concepts.class_ancestors(class_, of_literal=True) | {ANYTHING}


def _valid(ontology: Ontology) -> set[MetaStatement]:
    """Return the meta-statements of the concept model, and all below them in the hierarchies."""
    classes, properties = Hierarchy(ontology.subclasses), Hierarchy(ontology.subproperties)
    below = [
        (classes.below(stated.subject_class), properties.below(stated.property), classes.below(stated.object_class))
        for stated in ontology.meta_statements
    ]
    if sum(prod(map(len, parts)) for parts in below) > ITEMS_MAX:
        raise LimitError(f"the concept model has more than {ITEMS_MAX} meta-statements: OPS keeps an item for each")
    return set(_expanded(below))


def _expanded(below: Iterable[tuple[frozenset[NamedNode], ...]]) -> Iterator[MetaStatement]:
    for parts in below:
        yield from (MetaStatement(*combination) for combination in product(*parts))


def _order(meta_statement: MetaStatement) -> tuple[str, str, str]:
    return (meta_statement.subject_class.value, meta_statement.property.value, meta_statement.object_class.value)
