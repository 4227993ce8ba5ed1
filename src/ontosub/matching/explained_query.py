"""Which part of a query decided: for a miss the one that left no solution, for a match what gave the first answer.

A query is followed along its spine, from its innermost pattern outwards (`query_spine`). The step after which no
solution is left is what fails. From the solution that came nearest, or from the first answer, the way goes back
inwards: each step says what it did to that solution. A pattern beside the spine (in a join, a UNION, a sub-select,
GRAPH) is explained in the same way where it has a say.

All of it spends from one budget; what is beyond it is undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ontosub.matching.constraints import constraints_of
from ontosub.matching.definition import variables_in
from ontosub.matching.nearest_part import Parts
from ontosub.matching.pattern_text import PatternText, shortened
from ontosub.matching.query_spine import (
    Steps,
    agree,
    below,
    exists_in,
    extensions,
    is_having,
    part_of,
    spine,
    upon,
    written_out,
)
from ontosub.matching.reasons import Reason, Reasons, supported
from ontosub.matching.residual import context_of
from ontosub.matching.showing import Show
from ontosub.matching.solutions import Solution
from ontosub.model import algebra
from ontosub.model.algebra import (
    Basic,
    Extend,
    Filter,
    Grouping,
    Join,
    LeftJoin,
    Minus,
    Named,
    Node,
    PathPattern,
    Query,
    Selection,
    Unfolding,
    Union,
    Values,
    parts_of,
)
from ontosub.model.errors import LimitError, Span
from ontosub.model.expression import Expression
from ontosub.model.pattern import Filter as Condition
from ontosub.model.pattern import GraphPattern
from ontosub.model.terms import PatternTerm, Variable
from ontosub.semantics.budget import Budget
from ontosub.semantics.context import Context
from ontosub.semantics.event_graph import EventGraph
from ontosub.semantics.wording import explain_failure

Positions = Mapping[int, Span]
"""Where parts of the algebra stand in the text of the subscription, by their identity."""

PART_STEPS = 50_000
"""How many steps the search for the nearest part of one plain pattern may take."""

_SHOWN_MAX = 5


def explain_query(
    query: Query, graph: EventGraph, budget: Budget, show: Show, positions: Positions
) -> tuple[Reasons, Solution]:
    """Return the parts of the query that hold, and those that fail; with what the query's variables are bound to."""
    found = Reasons()
    text = PatternText.of(query.selection, show)
    nearest: Solution = {}
    try:
        nearest = _Explained(graph, context_of(graph.event, budget), text, positions, found).explain(query.selection)
    except LimitError as error:
        found.undecided.append(Reason("the rest of the query", f"was given up: {error}"))
    return found, {v: term for v, term in nearest.items() if isinstance(v, Variable) and v not in text.names}


class _Explained:
    """Explains nodes on one graph, and adds what it finds to the reasons."""

    def __init__(
        self, graph: EventGraph, context: Context, text: PatternText, positions: Positions, found: Reasons
    ) -> None:
        self._graph = graph
        self._steps = Steps(graph, context)
        self._text = text
        self._positions = positions
        self._found = found

    def explain(self, node: Node, sought: Solution | None = None) -> Solution:
        """Explain how a node comes to the solution that is sought, or to its first; or else why it has none.

        Return the solution that is spoken of, with all that the node knows of it.
        """
        nodes = spine(node)
        levels = self._steps.levels(nodes)
        if levels[-1]:
            return self._way(nodes, levels, levels[-1][0] if sought is None else sought)
        empty = [k for k, level in enumerate(levels) if not level and (k == 0 or levels[k - 1])]
        nearest: Solution = {}
        if empty[-1] > 0:
            nearest = self._way(nodes, levels[: empty[-1]], levels[empty[-1] - 1][0], is_top=False)
        # An aggregate of all solutions has a group even where there are none: what left none counts as well.
        for k in empty:
            if k == 0:
                self._leaf_fails(nodes[0])
            else:
                self._step_fails(nodes[k], levels[k - 1])
        return nearest

    # The way to a solution

    def _way(
        self, nodes: Sequence[Node], levels: Sequence[list[Solution]], reached: Solution, *, is_top: bool = True
    ) -> Solution:
        """Say what each step did on the way to a solution. Return the solution with all that was known on the way."""
        way: list[tuple[Node, Solution, Solution]] = []
        whole: Solution = reached
        is_inside = False
        for k in range(len(levels) - 1, 0, -1):
            source = self._steps.source(nodes[k], levels[k - 1], reached)
            if source is None:
                way.append((nodes[k], {}, reached))
                break
            way.append((nodes[k], source, reached))
            # What a sub-select does not project is not known outside.
            is_inside = is_inside or (isinstance(nodes[k], Selection) and not (is_top and k == len(nodes) - 1))
            whole = whole if is_inside else {**source, **whole}
            reached = source
        else:
            self._leaf_holds(nodes[0], reached)
        for node, source, result in reversed(way):
            self._step_holds(node, source, result)
        return whole

    # What holds

    def _holds(self, node: Node, text: str, detail: str) -> None:
        self._found.held.append(Reason(text, detail, show=self._text.show, span=self._span(node)))

    def _leaf_holds(self, leaf: Node, solution: Solution) -> None:
        match leaf:
            case Basic(pattern):
                show = self._text.show
                reasons = (supported(each, solution, self._graph, show) for each in constraints_of(pattern))
                self._found.held += reasons
            case Union(branches):
                place = next(k for k, branch in enumerate(branches) if solution in self._steps.of(branch))
                answering = f"branch {place + 1} of {len(branches)} answers"
                self._holds(leaf, self._text.brief(leaf), f"{answering}: {self._text.group(branches[place])}")
                self.explain(branches[place], solution)
            case Named(name, pattern):
                graph_name = solution[name] if isinstance(name, Variable) else name
                self._holds(leaf, self._text.brief(leaf), f"found in {self._text.term(graph_name)}")
                self._inside(self._graph.named[graph_name], pattern, {**solution, name: graph_name})  # type: ignore[index]
            case _:
                self._holds(leaf, self._text.brief(leaf), self._shown(solution) or "holds")

    def _step_holds(self, node: Node, source: Solution, result: Solution) -> None:
        match node:
            case Join(_, right):
                self._join_holds(node, right, source, result)
            case LeftJoin(_, right, conditions):
                found = Filter(Join(written_out([source]), right), conditions)
                added = self._shown({v: term for v, term in result.items() if v not in source})
                told = f"found: {added}" if added else "found"
                is_found = self._steps.first(found) is not None
                self._holds(node, self._text.brief(node), told if is_found else "nothing is found")
            case Minus(_, right):
                shared = self._shown(source, algebra.variables_in(right))
                detail = f"nothing agrees with {shared}" if shared else "shares no variable, and takes nothing away"
                self._holds(node, self._text.brief(node), detail)
            case Filter(_, (condition,)):
                self._holds(node, self._text.brief(node), self._condition_holds(condition.expression, source))
            case Extend():
                for each in extensions(node):
                    value = result.get(each.variable)
                    detail = "has no value" if value is None else self._shown({each.variable: value})
                    self._holds(each, self._text.extension(each), detail)
            case Grouping():
                shown = self._shown(result)
                self._holds(node, self._text.brief(node) or "all solutions are one group", shown or "one group")
            case Selection() if node.is_cut:
                self._holds(node, self._text.cut(node), "leaves this solution")

    def _join_holds(self, node: Join, right: Node, source: Solution, result: Solution) -> None:
        if isinstance(right, Basic | PathPattern | Unfolding):
            self._leaf_holds(right, {**part_of(result, algebra.variables_in(right))})
            return
        joined = (each for each in self._steps.of(right) if {**source, **each} == result and agree(source, each))
        other = next(joined)
        if isinstance(right, Union | Values | Named):
            self._leaf_holds(right, other)
        else:
            self.explain(right, other)

    def _condition_holds(self, expression: Expression, solution: Solution) -> str:
        asked = exists_in(expression)
        if asked is None:
            used = {each for each in parts_of(expression) if isinstance(each, Variable)}
            return self._shown(solution, used) or "is true"
        pattern, is_negated = asked
        if is_negated:
            return f"nothing is found{self._with(solution, pattern)}"
        return self._found_by(pattern, solution)

    def _found_by(self, pattern: Node, solution: Solution) -> str:
        """Say what the pattern of an EXISTS finds for a solution."""
        found = self._steps.first(pattern, {v: term for v, term in solution.items() if isinstance(v, Variable)}) or {}
        added = self._shown({v: term for v, term in found.items() if v not in solution})
        return f"found: {added}" if added else f"it is there{self._with(solution, pattern)}"

    # What fails

    def _fails(self, node: Node, detail: str) -> None:
        self._found.failed.append(Reason(self._text.brief(node), detail, show=self._text.show, span=self._span(node)))

    def _leaf_fails(self, leaf: Node) -> None:
        match leaf:
            case Basic(pattern):
                self._basic_fails(pattern)
            case Union(branches):
                self._fails(leaf, f"none of its {len(branches)} branches has a solution")
                for branch in branches:
                    self._only_failures(branch)
            case Named(name, pattern):
                self._named_fails(leaf, name, pattern)
            case Values():
                self._fails(leaf, "has no row")
            case _:
                self._fails(leaf, "nothing like this is found")

    def _basic_fails(self, pattern: GraphPattern) -> None:
        budget = self._steps.context.budget
        parts = Parts(pattern, self._graph, min(PART_STEPS, budget.steps))
        self._found.add(parts.nearest(), self._graph, self._text.show)
        budget.spend(parts.spent)

    def _named_fails(self, leaf: Node, name: PatternTerm, pattern: Node) -> None:
        named = self._graph.named
        if isinstance(name, Variable):
            has = f"none of the event's {len(named)} named graphs has it" if named else "the event has no named graph"
            self._fails(leaf, has)
        elif name not in named:
            self._fails(leaf, f"the event has no graph {self._text.term(name)}")
        else:
            self._fails(leaf, f"not found in {self._text.term(name)}")
            self._inside(named[name], pattern)  # type: ignore[index]

    def _inside(self, graph: EventGraph, pattern: Node, solution: Solution | None = None) -> None:
        """Explain a pattern inside of a named graph; the solution, if there is one, may bind the graph as well."""
        inside = _Explained(graph, self._steps.context, self._text, self._positions, self._found)
        sought = None
        if solution is not None:
            keys = algebra.variables_in(pattern)
            sought = next(each for each in inside._steps.of(pattern) if each == part_of(solution, keys))
        inside.explain(pattern, sought)

    def _only_failures(self, node: Node) -> None:
        """Explain why a node has no solution, without what holds of it: other nodes stand beside it."""
        held = len(self._found.held)
        self.explain(node)
        del self._found.held[held:]

    def _step_fails(self, node: Node, before: list[Solution]) -> None:
        first, others = before[0], len(before) - 1
        match node:
            case Join(_, right):
                self._join_fails(node, right, before)
            case Minus(_, right):
                taken = self._shown(self._steps.taking(right, first))
                which = f"each of {len(before)} solutions, for example" if others else "the only solution,"
                self._fails(node, f"takes away {which} {self._shown(first)}: it finds {taken}")
            case Filter(_, (condition,)):
                detail = self._condition_fails(condition, first)
                if is_having(node):
                    detail += self._in_group(node, first)
                other = f"other {'group' if is_having(node) else 'solution'}"
                self._fails(node, detail + _nor(others, f"nor does it hold for {_many(others, other)}"))
            case Selection(limit=0):
                self._fails(node, "lets no solution pass")
            case Selection():
                count = len(self._steps.after(replace(node, offset=0, limit=None, order=()), before))
                self._fails(node, f"there {'is' if count == 1 else 'are'} only {_many(count, 'solution')}")
            case _:
                self._fails(node, f"leaves none of {_many(len(before), 'solution')}")

    def _join_fails(self, node: Join, right: Node, before: list[Solution]) -> None:
        first = before[0]
        nor = _nor(len(before) - 1, f"nor with {_many(len(before) - 1, 'other solution')}")
        match right:
            case Values():
                self._fails(node, f"no row agrees with {self._shown(first, algebra.variables_in(right))}{nor}")
            case PathPattern():
                self._fails(node, f"there is no such path{self._with(first, right)}{nor}")
            case Unfolding(term):
                self._fails(node, f"{self._shown(first, {term}) or 'the term'} is not like this{nor}")
            case _:
                other = self._steps.first(right)
                if other is None and isinstance(right, Union | Named):
                    self._leaf_fails(right)
                elif other is None:
                    self.explain(right)
                else:
                    shared = self._shown(first, other.keys())
                    self._fails(node, f"nothing agrees with {shared}{nor}; it finds {self._shown(other)}")

    def _condition_fails(self, condition: Condition, solution: Solution) -> str:
        asked = exists_in(condition.expression)
        if asked is None:
            binding = variables_in(solution)
            failure = explain_failure(condition.expression, binding, self._steps.context, self._text.words)
            return shortened(failure or "does not hold")
        pattern, is_negated = asked
        return self._found_by(pattern, solution) if is_negated else f"nothing is found{self._with(solution, pattern)}"

    def _in_group(self, node: Filter, solution: Solution) -> str:
        inner: Node = node
        while isinstance(inner, Filter):
            inner = inner.pattern
        keys = self._shown(solution, [v for v, _ in inner.keys]) if isinstance(inner, Grouping) else ""
        return f" in the group {keys}" if keys else ""

    # Words

    def _with(self, solution: Solution, pattern: Node) -> str:
        shown = self._shown(solution, algebra.variables_in(pattern))
        return f" with {shown}" if shown else ""

    def _shown(self, solution: Solution, chosen: Iterable[PatternTerm] | None = None) -> str:
        """Return what variables are bound to: those that are chosen, or all; of many, the first few."""
        among = solution if chosen is None else frozenset(chosen)
        bound = ((v, term) for v, term in solution.items() if v in among and isinstance(v, Variable))
        texts = list(dict.fromkeys(f"{self._text.term(v)} = {self._text.term(term)}" for v, term in bound))
        more = len(texts) - _SHOWN_MAX
        return ", ".join(texts[:_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")

    def _span(self, node: Node) -> Span | None:
        """Return where a step stands in the text: at its first part whose place is known."""
        own = node if below(node) is None else upon(node, Values((), ()))
        return next((self._positions[id(part)] for part in parts_of(own) if id(part) in self._positions), None)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _nor(others: int, words: str) -> str:
    return f", {words}" if others else ""
