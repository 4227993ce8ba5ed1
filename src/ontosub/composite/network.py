"""All operators of all composite subscriptions, each sub-pattern once.

Patterns that are equal, and count from the same moment, share a node. A later subscriber does not join one that has
been at work before: what it is told must not depend on who else has subscribed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple, TypeAlias

from ontosub.composite.instance import Instance, Row, Rows, unique
from ontosub.composite.machine import Machine, Wait
from ontosub.composite.moments import FOREVER
from ontosub.composite.node import Node
from ontosub.composite.operators import behaviour_of
from ontosub.composite.values import Values
from ontosub.languages.composite import to_text
from ontosub.model.composite import Composite, EventPattern, Primitive, operands_of, walk

Origin: TypeAlias = tuple[int | None, int]
"""Where a subscription began: the watermark, None when there was none yet, and how many matches had come."""


_FEW = 16
_NOTHING: Row = {}


class Found(NamedTuple):
    """An instance of a composite subscription's pattern."""

    composite_id: str
    instance: Instance


Pending: TypeAlias = tuple[int, int, str, str, int, Rows, int]
"""A match: end, start, event and subscription id, its number in the order of arrival, answers, end of its life."""


class _Leaf(NamedTuple):
    """An operator that the matches of a subscription go to.

    `number` is that of the route; `name` is the variable of the match that the operator divides its work by, None when
    that is not a single one; `gate` is that of the machine.
    """

    node: Node
    machine: Machine
    operand: int
    number: int
    name: str | None
    gate: Mapping[Values, object] | None


class _Plan(NamedTuple):
    """What is done with the matches of a subscription.

    `others` are the routes that lead to more than leaves, `variables` those of the answers that some route takes.
    Matches up to the number `newest` came before somebody who is served here subscribed.
    """

    routes: list[_Route]
    leaves: list[_Leaf]
    others: list[int]
    variables: frozenset[str]
    newest: int


class _Route:
    """Where the matches of a primitive subscription go, under the names that a pattern has for their variables."""

    def __init__(self, primitive: Primitive, origin: Origin) -> None:
        self.origin = origin
        self.parents: list[tuple[Node, int]] = []
        self.subscribers: list[str] = []
        self.renamed = primitive.variables
        same = all(old == new for old, new in primitive.variables)
        self._as_is = {new for _, new in primitive.variables} if same else None

    def rows(self, rows: Rows) -> Rows:
        """Return answers with the variables that the pattern chooses; as sets, so equal ones are one."""
        if len(rows) == 1:
            row = rows[0]
            if row.keys() == self._as_is:
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
        if len(self._due) > 2 * len(self._nodes) + _FEW:
            self._due = [entry for entry in self._due if entry[2].scheduled == entry[0]]
            heapify(self._due)

    def _place(self, pattern: EventPattern, origin: Origin) -> Node | _Route:
        """Return the node or route of a pattern; make it and those below it, if they are not there."""
        if isinstance(pattern, Primitive):
            routes = self._routes.setdefault(pattern.subscription_id, {})
            return routes.setdefault((pattern, origin), _Route(pattern, origin))
        if (pattern, origin) in self._nodes:
            return self._nodes[pattern, origin]
        operands = list(dict.fromkeys(operands_of(pattern)))
        below = [self._place(operand, origin) for operand in operands]
        delay = max([each.answer_delay for each in below if isinstance(each, Node)], default=0)
        node = Node(pattern, behaviour_of(pattern, origin[0], self._lifetime), self._made, delay)
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
        node.scheduled = FOREVER  # so that nobody wakes it
        for operand in dict.fromkeys(operands_of(pattern)):
            below = self._place(operand, origin)
            below.parents = [parent for parent in below.parents if parent[0] is not node]
            self._prune(operand, origin)

    def put(self, match: Pending, found: list[Found]) -> None:
        """Bring a match to the operators; note if it was subscribed to alone.

        Its interval must be another than that of the last: those with the same go together.
        """
        plan = self._plan_for(match)
        rows = match[5]
        row = rows[0] if len(rows) == 1 else _NOTHING
        # An instance is made only when somebody takes it.
        instances: list[Instance | None] = [None] * len(plan.routes)
        for number in plan.others:
            whole = instances[number] = _instance(match, plan.routes[number])
            self._deliver(whole, plan.routes[number], found)
        for node, machine, operand, number, name, gate in plan.leaves:
            values = row.get(name)  # type: ignore[arg-type]
            if gate is not None and values is not None and values not in gate:
                continue
            instance = instances[number]
            if instance is None:
                instance = instances[number] = _instance(match, plan.routes[number])
            completed = node.feed(operand, instance) if values is None else machine.feed(values, operand, instance)
            if completed or machine.due < node.scheduled:
                self._fed(node, completed, found)

    def put_together(self, matches: list[Pending], found: list[Found]) -> None:
        """Bring matches with the same interval to the operators; note those that were subscribed to alone."""
        # The same leaf may be concerned by several of them, and wants them in canonical order.
        targets = []
        for match in matches:
            plan = self._plan_for(match)
            instances = [_instance(match, route) for route in plan.routes]
            for leaf in plan.leaves:
                instance = instances[leaf.number]
                targets.append((leaf.node.rank, leaf.operand, instance.key, leaf.node, instance))
            for number in plan.others:
                self._deliver(instances[number], plan.routes[number], found)
        targets.sort()
        for _, operand, _, node, instance in targets:
            self._fed(node, node.feed(operand, instance), found)

    def _fed(self, node: Node, completed: list[Instance], found: list[Found]) -> None:
        """Deliver what a leaf has completed, and see to it that it is told the time."""
        for instance in completed:
            self._deliver(instance, node, found)
        if node.machine.due < node.scheduled:
            self._schedule(node)

    def _plan_for(self, match: Pending) -> _Plan:
        """Return what is done with a match: it is not for those who subscribed after it had come."""
        number, subscription_id = match[4], match[3]
        plan = self._plans.get(subscription_id) or self._planned(subscription_id)
        return plan if number > plan.newest else self._made_plan(subscription_id, number)

    def _planned(self, subscription_id: str) -> _Plan:
        plan = self._made_plan(subscription_id, None)
        if plan.routes:
            self._plans[subscription_id] = plan
        return plan

    def _made_plan(self, subscription_id: str, number: int | None) -> _Plan:
        """Return a plan for all matches of a subscription, or for the one that came with this number."""
        standing = self._routes.get(subscription_id, {}).values()
        routes = [route for route in standing if number is None or number > route.origin[1]]
        leaves = [
            _leaf(node, operand, place, route.divisor(node))
            for place, route in enumerate(routes)
            for node, operand in route.parents
            if node.is_leaf
        ]
        leaves.sort(key=lambda leaf: (leaf.node.rank, leaf.operand))
        others = [
            place
            for place, route in enumerate(routes)
            if route.subscribers or not all(node.is_leaf for node, _ in route.parents)
        ]
        variables = frozenset(old for route in routes for old, _ in route.renamed)
        newest = max((route.origin[1] for route in routes), default=0)
        return _Plan(routes, leaves, others, variables, newest)

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

    def overruns(self) -> dict[str, int]:
        """Return how many overruns the operators of each composite had, without the composites that had none.

        An operator that several composites share counts for each of them.
        """
        if not any(node.work.overruns for node in self._nodes.values()):
            return {}
        counted = {name: sum(node.work.overruns for _, node in self._operators(name)) for name in self._composites}
        return {name: count for name, count in counted.items() if count}

    def forget(self, watermark: int) -> None:
        """Forget all that means nothing any more, so that what is told and stored is exact."""
        for node in self._nodes.values():
            node.forget(watermark)

    def due(self) -> int:
        """Return the watermark at which an operator decides or forgets something next."""
        while self._due and self._due[0][2].scheduled != self._due[0][0]:
            heappop(self._due)
        return self._due[0][0] if self._due else FOREVER

    def _schedule(self, node: Node) -> None:
        due = node.due()
        if due < node.scheduled:
            node.scheduled = due
            heappush(self._due, (due, node.rank, node))

    def state(self) -> list[Any]:
        """Return what the operators hold, each with the text of its pattern and where it counts from."""
        return [[to_text(pattern), list(origin), node.state()] for (pattern, origin), node in self._nodes.items()]

    def restore(self, state: list[Any]) -> None:
        """Let the operators hold what a state says; those that it does not mention are left as they are."""
        nodes = {(to_text(pattern), origin): node for (pattern, origin), node in self._nodes.items()}
        self._due = []
        for text, (watermark, arrivals), held in state:
            if (text, (watermark, arrivals)) in nodes:
                nodes[text, (watermark, arrivals)].restore(held)
        for node in nodes.values():
            node.scheduled = FOREVER
            self._schedule(node)

    def waiting(self, composite_id: str) -> Iterator[tuple[EventPattern, Row, Wait]]:
        """Yield what the operators of a composite subscription hold and wait for, the outermost operator first."""
        for pattern, node in self._operators(composite_id):
            for row, wait in node.waiting():
                yield pattern, row, wait

    def _operators(self, composite_id: str) -> Iterator[tuple[EventPattern, Node]]:
        """Yield the operators of a composite subscription, each once, the outermost first."""
        composite, origin = self._composites[composite_id]
        for pattern in dict.fromkeys(walk(composite.pattern)):
            if (pattern, origin) in self._nodes:
                yield pattern, self._nodes[pattern, origin]


def _leaf(node: Node, operand: int, number: int, name: str | None) -> _Leaf:
    return _Leaf(node, node.machine, operand, number, name, None if name is None else node.machine.gate(operand))


def _instance(match: Pending, route: _Route) -> Instance:
    end, start, event_id, subscription_id, _, rows, expires = match
    return Instance(start, end, route.rows(rows), event_id, (), expires, (subscription_id, event_id))
