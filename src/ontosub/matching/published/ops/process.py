"""The matching process: typed-statements meet waiting patterns, and matching trees grow from what matches."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ontosub.matching.definition import Mu, variables_in
from ontosub.matching.published.concepts import Given
from ontosub.matching.published.ops.ems import EmsItem, ExtendedMetaStatements, WaitingPattern
from ontosub.matching.published.ops.patterns import Identifier, StatementPattern, SubscriptionGraph, object_binding
from ontosub.matching.published.ops.traversal import TypedStatement, traverse, vertex_of
from ontosub.matching.published.ops.tree import MatchingTree, Rectangle
from ontosub.matching.published.ops.verification import expression_of_root
from ontosub.model.errors import LimitError
from ontosub.model.pattern import is_constant
from ontosub.semantics.event_graph import EventGraph
from ontosub.semantics.expressions import holds


@dataclass(slots=True)
class OpsStats:
    """What was done for all events so far."""

    events: int = 0
    typed_statements: int = 0
    pattern_matches: int = 0
    registrations: int = 0
    """Statement patterns that were registered to an equal one, instead of being matched once more."""
    trees: int = 0
    tree_nodes: int = 0
    bebv_runs: int = 0

    @property
    def nodes_per_tree(self) -> float:
        """The average size of a matching tree: Figure 8 (e) and (f) of the paper."""
        return self.tree_nodes / self.trees if self.trees else 0.0


class MatchingProcess:
    """One event on its way through the EMS array. `given_up` are the subscription graphs that it costs too much for."""

    def __init__(self, ems: ExtendedMetaStatements, graph: EventGraph, stats: OpsStats) -> None:
        self._ems = ems
        self._graph = graph
        self._stats = stats
        self._trees: dict[SubscriptionGraph, MatchingTree] = {}
        self._traversed: defaultdict[Identifier, list[tuple[TypedStatement, EmsItem]]] = defaultdict(list)
        self._agenda: deque[tuple[Rectangle, Identifier]] = deque()
        self._touched: dict[WaitingPattern, EmsItem] = {}
        self.given_up: set[SubscriptionGraph] = set()

    def run(self) -> dict[SubscriptionGraph, list[Mu]]:
        """Return all mappings of each subscription graph that matches. The EMS array is left as it was found."""
        self._stats.events += 1
        try:
            for statement in traverse(self._graph, Given(self._graph)):
                self._meet(statement)
            return self._verified()
        finally:
            self._clear()

    def _meet(self, statement: TypedStatement) -> None:
        """Match a typed-statement with the waiting patterns of its item and of the item's ancestors."""
        self._stats.typed_statements += 1
        item = self._ems.take(statement.meta_statement)
        self._traversed[statement.subject].append((statement, item))
        for each in (item, *item.ancestors):
            for waiting in list(each.waiting.values()):
                if self._matches(waiting.pattern, statement):
                    self._touched[waiting] = each
                    self._notify(waiting, statement.object)
        while self._agenda:
            self._grow(*self._agenda.popleft())

    def _grow(self, rectangle: Rectangle, object_: Identifier) -> None:
        """Extend a matching tree by what one of its patterns has matched."""
        tree = rectangle.tree
        if tree.graph not in self.given_up:
            with self._within_budget(tree):
                for derived in tree.extend(rectangle, object_):
                    self._wait(derived)

    @contextmanager
    def _within_budget(self, tree: MatchingTree) -> Iterator[None]:
        """Give up the subscription graph of a tree that exceeds its budget; all others go on."""
        try:
            yield
        except LimitError:
            self.given_up.add(tree.graph)

    def _matches(self, pattern: StatementPattern, statement: TypedStatement) -> bool:
        """Say whether the pattern, which waits in the statement's item or in an ancestor of it, matches it."""
        if pattern.subject != statement.subject or pattern.object not in (None, statement.object):
            return False
        subject, object_ = (vertex_of(end, self._graph) for end in (statement.subject, statement.object))
        return (
            pattern.subject_classes <= self._graph.classes(subject)
            and pattern.object_classes <= self._graph.classes(object_)
            and all(holds(condition, object_binding(object_)) for condition in pattern.filter_func)
        )

    def _notify(self, waiting: WaitingPattern, object_: Identifier) -> None:
        """Tell all that are registered to a waiting pattern what it matched: each object once."""
        if object_ in waiting.matched:
            return
        waiting.matched[object_] = None
        self._stats.pattern_matches += 1
        self._agenda.extend((observer, object_) for observer in waiting.observers)
        for subscription_graph in waiting.subscriptions:
            if subscription_graph not in self._trees:
                self._plant(subscription_graph)

    def _plant(self, subscription_graph: SubscriptionGraph) -> None:
        """Create the matching tree of a subscription graph, unless the home vertex is another than it asks for."""
        if is_constant(subscription_graph.home) and subscription_graph.home != self._graph.home:
            return
        tree = self._trees[subscription_graph] = MatchingTree(subscription_graph)
        with self._within_budget(tree):
            for rectangle in tree.root.children:
                self._wait(rectangle)

    def _wait(self, rectangle: Rectangle) -> None:
        """Put a statement pattern into its waiting-pattern list, or register it to the equal one that is there.

        Statements that were traversed before count as well: the paper's proof takes it for granted that those which a
        derived pattern needs come later, but an arc may lead back to a vertex whose arcs were traversed already.
        """
        pattern = rectangle.pattern
        item = self._ems.item(pattern.meta_statement)
        waiting = item.waiting.get(pattern)
        if waiting is None:
            rectangle.tree.budget.spend(len(self._traversed[pattern.subject]))
            waiting = item.waiting[pattern] = WaitingPattern(pattern)
            for statement, of_statement in self._traversed[pattern.subject]:
                if (of_statement is item or item in of_statement.ancestors) and self._matches(pattern, statement):
                    self._notify(waiting, statement.object)
        elif waiting.observers:
            self._stats.registrations += 1
        self._touched[waiting] = item
        waiting.observers.append(rectangle)
        self._agenda.extend((rectangle, object_) for object_ in waiting.matched)

    def _verified(self) -> dict[SubscriptionGraph, list[Mu]]:
        """Return the mappings that BEBV confirms for the trees that SBPV has checked."""
        verified = {}
        for subscription_graph, tree in self._trees.items():
            self._stats.trees += 1
            self._stats.tree_nodes += len(tree.nodes)
            if tree.root.checked and subscription_graph not in self.given_up:
                self._stats.bebv_runs += 1
                with self._within_budget(tree):
                    verified[subscription_graph] = self._confirmed(tree)
        return {subscription_graph: mappings for subscription_graph, mappings in verified.items() if mappings}

    def _confirmed(self, tree: MatchingTree) -> list[Mu]:
        mappings: list[Mu] = [
            {vertex: vertex_of(image, self._graph) for vertex, image in conjunction.items()}
            for conjunction in expression_of_root(tree)
        ]
        conditions = tree.graph.confirmations
        return [mu for mu in mappings if all(holds(condition.expression, variables_in(mu)) for condition in conditions)]

    def _clear(self) -> None:
        """Remove from the EMS array what belongs to this event."""
        for waiting, item in self._touched.items():
            waiting.observers.clear()
            waiting.matched.clear()
            if not waiting.subscriptions:
                item.waiting.pop(waiting.pattern, None)
        for statements in self._traversed.values():
            for statement, _ in statements:
                self._ems.give_back(statement.meta_statement)
