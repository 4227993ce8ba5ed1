"""All operators of all composite subscriptions, each sub-pattern once.

Patterns that are equal, and count from the same moment, share a node. A later subscriber does not join one that has
been at work before: what it is told must not depend on who else has subscribed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import Any, NamedTuple, TypeAlias

from ontosub.composite.instance import Instance, Row, Rows, unique
from ontosub.composite.machine import Machine, Wait
from ontosub.composite.moments import FOREVER
from ontosub.composite.node import Node
from ontosub.composite.operators import behaviour_of
from ontosub.languages.composite import to_text
from ontosub.model.composite import Composite, EventPattern, Primitive, operands_of, walk

Origin: TypeAlias = int | None
"""The watermark at which a subscription began; None when there was none yet."""


class Found(NamedTuple):
    """An instance of a composite subscription's pattern."""

    composite_id: str
    instance: Instance


Pending: TypeAlias = tuple[int, int, str, str, int, Rows, int]
"""A match: end, start, event and subscription id, its number in the order of arrival, answers, end of its life."""


class _Leaf(NamedTuple):
    """An operator that the matches of a subscription go to.

    `number` is that of the route; `name` is the variable of the match that the operator divides its work by, None when
    that is not a single one.
    """

    node: Node
    machine: Machine
    operand: int
    number: int
    name: str | None


class _Plan(NamedTuple):
    """What is done with the matches of a subscription.

    `others` are the routes that lead to more than leaves, `variables` those of the answers that some route takes.
    """

    routes: list[_Route]
    leaves: list[_Leaf]
    others: list[int]
    variables: frozenset[str]


class _Route:
    """Where the matches of a primitive subscription go, under the names that a pattern has for their variables."""

    def __init__(self, primitive: Primitive) -> None:
        self.parents: list[tuple[Node, int]] = []
        self.subscribers: list[str] = []
        self.renamed = primitive.variables
        self._same = all(old == new for old, new in primitive.variables)

    def rows(self, rows: Rows) -> Rows:
        """Return answers with the variables that the pattern chooses; as sets, so equal ones are one."""
        if len(rows) == 1:
            row = rows[0]
            if self._same and len(row) == len(self.renamed):
                return rows
            return ({new: row[old] for old, new in self.renamed if old in row},)
        return unique({new: row[old] for old, new in self.renamed if old in row} for row in rows)

    def divisor(self, node: Node) -> str | None:
        """Return the variable of a match that a node divides its work by; None unless that is a single one."""
        return next((old for old, new in self.renamed if (new,) == node.names), None)


class Network:
    """Composite subscriptions at work."""

    def __init__(self, lifetime: int = FOREVER) -> None:
        self._lifetime = lifetime
        self._nodes: dict[tuple[EventPattern, Origin], Node] = {}
        self._routes: dict[str, dict[tuple[Primitive, Origin], _Route]] = {}
        self._composites: dict[str, tuple[Composite, Origin]] = {}
        self._plans: dict[str, _Plan] = {}
        self._made = 0
        self._ready: list[tuple[int, Node]] = []
        self._due: list[tuple[int, int, Node]] = []

    @property
    def composites(self) -> dict[str, tuple[Composite, Origin]]:
        """The composite subscriptions by id, each with the moment that it counts from."""
        return self._composites

    @property
    def nodes(self) -> Iterable[Node]:
        """The operators at work."""
        return self._nodes.values()

    def wanted(self, subscription_id: str) -> frozenset[str] | None:
        """Return the variables of a subscription's answers that matter to anybody; None when its matches do not."""
        plan = self._plans.get(subscription_id)
        if plan is None:
            if subscription_id not in self._routes:
                return None
            plan = self._planned(subscription_id)
        return plan.variables

    def add(self, composite: Composite, origin: Origin) -> None:
        """Take in a composite subscription that counts from `origin`."""
        self._composites[composite.id] = (composite, origin)
        self._plans.clear()
        self._place(composite.pattern, origin).subscribers.append(composite.id)

    def remove(self, composite_id: str) -> None:
        """Forget a composite subscription, and what is held for nobody else."""
        composite, origin = self._composites.pop(composite_id)
        self._plans.clear()
        self._place(composite.pattern, origin).subscribers.remove(composite_id)
        self._prune(composite.pattern, origin)

    def _place(self, pattern: EventPattern, origin: Origin) -> Node | _Route:
        """Return the node or route of a pattern; make it and those below it, if they are not there."""
        if isinstance(pattern, Primitive):
            routes = self._routes.setdefault(pattern.subscription_id, {})
            return routes.setdefault((pattern, origin), _Route(pattern))
        if (pattern, origin) in self._nodes:
            return self._nodes[pattern, origin]
        operands = list(dict.fromkeys(operands_of(pattern)))
        below = [self._place(operand, origin) for operand in operands]
        delay = max([each.answer_delay for each in below if isinstance(each, Node)], default=0)
        node = Node(pattern, behaviour_of(pattern, origin, self._lifetime), self._made, delay)
        self._made += 1
        self._nodes[pattern, origin] = node
        for number, each in enumerate(below):
            each.parents.append((node, number))
        self._schedule(node)
        return node

    def _prune(self, pattern: EventPattern, origin: Origin) -> None:
        place = self._place(pattern, origin)
        if place.parents or place.subscribers:
            return
        if isinstance(pattern, Primitive):
            routes = self._routes[pattern.subscription_id]
            del routes[pattern, origin]
            if not routes:
                del self._routes[pattern.subscription_id]
            return
        node = self._nodes.pop((pattern, origin))
        for operand in dict.fromkeys(operands_of(pattern)):
            below = self._place(operand, origin)
            below.parents = [parent for parent in below.parents if parent[0] is not node]
            self._prune(operand, origin)

    def put(self, matches: list[Pending]) -> list[Found]:
        """Bring matches with the same interval to the operators; return those that were subscribed to alone."""
        found: list[Found] = []
        if len(matches) == 1:
            self._put(matches[0], found)
            return found
        # The same leaf may be concerned by several of them, and wants them in canonical order.
        targets = []
        for match in matches:
            plan = self._plans.get(match[3]) or self._planned(match[3])
            instances = [_instance(match, route) for route in plan.routes]
            for leaf in plan.leaves:
                instance = instances[leaf.number]
                targets.append((leaf.node.rank, leaf.operand, instance.key, leaf.node, instance))
            for number in plan.others:
                self._deliver(instances[number], plan.routes[number], found)
        targets.sort()
        for _, operand, _, node, instance in targets:
            self._fed(node, node.feed(operand, instance), found)
        return found

    def _put(self, match: Pending, found: list[Found]) -> None:
        """Bring a match to the operators. An instance is made of it only when one of them takes it."""
        plan = self._plans.get(match[3]) or self._planned(match[3])
        rows = match[5]
        row = rows[0] if len(rows) == 1 else {}
        instances: list[Instance | None] = [None] * len(plan.routes)
        for number in plan.others:
            whole = instances[number] = _instance(match, plan.routes[number])
            self._deliver(whole, plan.routes[number], found)
        for node, machine, operand, number, name in plan.leaves:
            values = row.get(name) if name is not None else None
            if values is not None and not machine.takes(values, operand):
                continue
            instance = instances[number]
            if instance is None:
                instance = instances[number] = _instance(match, plan.routes[number])
            completed = node.feed(operand, instance) if values is None else machine.feed(values, operand, instance)
            if completed or machine.due < node.scheduled:
                self._fed(node, completed, found)

    def _fed(self, node: Node, completed: list[Instance], found: list[Found]) -> None:
        """Deliver what a leaf has completed, and see to it that it is told the time."""
        for instance in completed:
            self._deliver(instance, node, found)
        if node.machine.due < node.scheduled:
            self._schedule(node)

    def _planned(self, subscription_id: str) -> _Plan:
        routes = list(self._routes.get(subscription_id, {}).values())
        leaves = [
            _Leaf(node, node.machine, operand, number, route.divisor(node))
            for number, route in enumerate(routes)
            for node, operand in route.parents
            if node.is_leaf
        ]
        leaves.sort(key=lambda leaf: (leaf.node.rank, leaf.operand))
        others = [
            number
            for number, route in enumerate(routes)
            if route.subscribers or not all(node.is_leaf for node, _ in route.parents)
        ]
        variables = frozenset(old for route in routes for old, _ in route.renamed)
        plan = self._plans[subscription_id] = _Plan(routes, leaves, others, variables)
        return plan

    def _deliver(self, instance: Instance, place: Node | _Route, found: list[Found]) -> None:
        """Put an instance into the inbox of each operator above, and tell who subscribed to it."""
        for node, operand in place.parents:
            if node.is_leaf:
                continue
            if not node.is_ready:
                node.is_ready = True
                heappush(self._ready, (node.rank, node))
            node.put(operand, instance)
        found += [Found(composite_id, instance) for composite_id in place.subscribers]

    def run(self, watermark: int) -> list[Found]:
        """Do all that can be done when everything that ends by the watermark has been put in; return what is found."""
        found: list[Found] = []
        self._wake(watermark, found)
        while self._ready:
            _, node = heappop(self._ready)
            node.is_ready = False
            self._run(node, watermark, found)
            self._wake(watermark, found)
        return found

    def _wake(self, watermark: int, found: list[Found]) -> None:
        """Run the leaves that are due, and line up other operators that are: these wait for those below them."""
        while self._due and self._due[0][0] <= watermark:
            due, rank, node = heappop(self._due)
            if node.scheduled == due:
                node.scheduled = FOREVER
                if node.is_leaf:
                    self._run(node, watermark, found)
                elif not node.is_ready:
                    node.is_ready = True
                    heappush(self._ready, (rank, node))

    def _run(self, node: Node, watermark: int, found: list[Found]) -> None:
        for instance in node.run(watermark):
            self._deliver(instance, node, found)
        self._schedule(node)

    def forget(self, watermark: int) -> None:
        """Forget all that means nothing any more, so that what is told and stored is exact."""
        for node in self._nodes.values():
            node.forget(watermark)

    def due(self) -> int:
        """Return the watermark at which an operator decides or forgets something next."""
        return self._due[0][0] if self._due else FOREVER

    def _schedule(self, node: Node) -> None:
        due = node.due()
        if due < node.scheduled:
            node.scheduled = due
            heappush(self._due, (due, node.rank, node))

    def state(self) -> list[Any]:
        """Return what the operators hold, each with the text of its pattern and the moment that it counts from."""
        return [[to_text(pattern), origin, node.state()] for (pattern, origin), node in self._nodes.items()]

    def restore(self, state: list[Any]) -> None:
        """Let the operators hold what a state says; those that it does not mention are left as they are."""
        nodes = {(to_text(pattern), origin): node for (pattern, origin), node in self._nodes.items()}
        self._due = []
        for text, origin, held in state:
            if (text, origin) in nodes:
                nodes[text, origin].restore(held)
        for node in nodes.values():
            node.scheduled = FOREVER
            self._schedule(node)

    def waiting(self, composite_id: str) -> Iterator[tuple[EventPattern, Row, Wait]]:
        """Yield what the operators of a composite subscription hold and wait for, the outermost operator first."""
        composite, origin = self._composites[composite_id]
        for pattern in dict.fromkeys(walk(composite.pattern)):
            if (pattern, origin) in self._nodes:
                for row, wait in self._nodes[pattern, origin].waiting():
                    yield pattern, row, wait


def _instance(match: Pending, route: _Route) -> Instance:
    end, start, event_id, subscription_id, _, rows, expires = match
    return Instance(start, end, route.rows(rows), event_id, (), expires, (subscription_id, event_id))
