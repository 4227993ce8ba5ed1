"""From tree to event pattern: names are looked up, windows asked for, variables checked.

An iteration or negation is taken per what is said, and per every variable of its operand that also occurs elsewhere in
the pattern: a variable that appears in two places stands for the same value in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from heapq import nsmallest

from ontosub.languages.composite.inline import answer_variables, inline_subscription
from ontosub.languages.composite.syntax import (
    AND,
    NOT,
    OR,
    PARALLEL,
    TIMES,
    Applied,
    Inline,
    Named,
    Syntax,
)
from ontosub.languages.composite.words import RELATIONS
from ontosub.languages.prologue import Prologue, shown
from ontosub.languages.sparql.source import Source
from ontosub.model.composite import (
    DEPTH_MAX,
    NODES_MAX,
    Composite,
    Concurrency,
    Conjunction,
    Disjunction,
    EventPattern,
    Exclusion,
    Iteration,
    Negation,
    Policy,
    Primitive,
    Restriction,
    Sequence,
    operands_of,
)
from ontosub.model.errors import Span, UsageError
from ontosub.model.relation import Relation
from ontosub.model.scope import Names, certain, possible
from ontosub.model.subscription import Subscription

Operand = Subscription | Composite
Lookup = Callable[[str, Span], Operand]
"""Finds what a name stands for; the span is where it is written, for the error that there is no such name."""

SHOWN_MAX = 10
"""How many names an error shows."""
_POLICY_OF = (AND, OR, PARALLEL, TIMES, *RELATIONS.values())


class Resolver:
    """Makes an event pattern of a tree, and collects the subscriptions that were written inside it."""

    def __init__(self, source: Source, prologue: Prologue, lookup: Lookup, policy: Policy) -> None:
        self._source = source
        self._prologue = prologue
        self._lookup = lookup
        self._policy = policy
        self.subscriptions: dict[str, Subscription] = {}
        self._inline: dict[int, Primitive] = {}

    def pattern(self, tree: Syntax, outside: Names = frozenset()) -> EventPattern:
        """Return the pattern of a tree; `outside` are the variables that occur around it."""
        match tree:
            case Named():
                return self._named(tree)
            case Inline():
                return self._written(tree)
        return self._applied(tree, outside)

    def mentioned(self, tree: Syntax) -> Names:
        """Return the variables that occur anywhere in a tree, whether it binds them or not."""
        if not isinstance(tree, Applied):
            return possible(self.pattern(tree))
        made = {aggregate.name for aggregate, _ in tree.aggregates}
        return self._said(tree).union(made, *map(self.mentioned, tree.operands))

    def _named(self, tree: Named) -> EventPattern:
        found = self._lookup(tree.name, tree.span)
        if isinstance(found, Subscription):
            return self._primitive(found, tree)
        self.subscriptions.update({each.id: each for each in found.subscriptions})
        if tree.chosen is None:
            return found.pattern
        hint = "Choose and rename its variables inside it, where its own operands are named."
        raise self._source.error(f"the variables of the composite {shown(tree.name)} are fixed", tree.span, hint)

    def _written(self, tree: Inline) -> Primitive:
        if tree.start not in self._inline:
            found = inline_subscription(tree, self._source, self._prologue)
            self.subscriptions[found.id] = found
            self._inline[tree.start] = self._primitive(found, tree)
        return self._inline[tree.start]

    def _primitive(self, found: Subscription, tree: Named | Inline) -> Primitive:
        known = answer_variables(found)
        if tree.chosen is None:
            return Primitive(found.id, tuple((name, name) for name in known))
        for chosen in tree.chosen:
            if chosen.variable not in known:
                listed = ", ".join(f"?{name}" for name in sorted(known)) or "none"
                hint = f"Its answers bind {listed}."
                raise self._source.error(f"?{chosen.variable} is not bound there", chosen.span, hint)
        try:
            return Primitive(found.id, tuple((chosen.variable, chosen.name) for chosen in tree.chosen))
        except UsageError:
            hint = "Give each of them a name of its own."
            raise self._source.error("two variables get the same name", tree.span, hint) from None

    def _said(self, tree: Applied) -> Names:
        """Return the variables that an operator's own suffixes mention."""
        conditions = {variable.value for condition in tree.where for variable in condition.variables}
        taken = {aggregate.variable for aggregate, _ in tree.aggregates if aggregate.variable is not None}
        return frozenset(conditions | taken | {name for name, _ in tree.per})

    def _applied(self, tree: Applied, outside: Names) -> EventPattern:
        self._check_suffixes(tree)
        said = self._said(tree)
        mentioned = [self.mentioned(operand) for operand in tree.operands]
        around = [
            said.union(outside, *mentioned[:number], *mentioned[number + 1 :]) for number in range(len(mentioned))
        ]
        if tree.operator in (TIMES, NOT):
            return self._grouped(tree, outside)
        operands = tuple(map(self.pattern, tree.operands, around))
        self._check_bound(tree, frozenset().union(*map(possible, operands)))
        return self._built(tree, operands)

    def _built(self, tree: Applied, operands: tuple[EventPattern, ...]) -> EventPattern:
        where, policy = tuple(tree.where), tree.policy or self._policy
        match tree.operator:
            case "restrict":
                return Restriction(operands[0], tree.window, where)
            case "and not":
                if tree.window is None:
                    raise self._no_window(tree, "and not")
                return Exclusion(operands[0], operands[1], tree.window, where)
            case "and":
                return Conjunction(operands, tree.window, where, policy)
            case "or":
                return Disjunction(operands, tree.window, where, policy)
            case "parallel":
                return Concurrency(operands, tree.window, where, policy)
        return Sequence(Relation(tree.operator), operands, tree.window, where, policy)

    def _grouped(self, tree: Applied, outside: Names) -> EventPattern:
        """Return an iteration or a negation, per all of its operand's variables that matter outside of it."""
        [inner] = tree.operands
        made = {aggregate.name for aggregate, _ in tree.aggregates}
        # What only the conditions and aggregates ask of the members does not divide them, and outside of it a name that
        # is given to an aggregate means that one.
        body = self.pattern(inner, (self._said(tree) | outside) - made)
        said = frozenset(name for name, _ in tree.per)
        per = said if tree.only else said | (certain(body) & outside - made)
        self._check_grouping(tree, body, made)
        where = tuple(tree.where)
        if tree.operator == NOT:
            if tree.window is None:
                raise self._no_window(tree, "not")
            self._check_bound(tree, possible(body))
            return Negation(body, tree.window, tuple(per), where)
        if tree.count is None and tree.window is None:
            hint = "Say how far apart its members may be, for example: times * within 10 min."
            raise self._source.error("an open iteration needs a window", tree.span, hint)
        self._check_bound(tree, per | made, hint_of=possible(body))
        aggregates = tuple(aggregate for aggregate, _ in tree.aggregates)
        return Iteration(body, tree.count, tree.window, tuple(per), aggregates, where, tree.policy or self._policy)

    def _check_grouping(self, tree: Applied, body: EventPattern, made: set[str]) -> None:
        for name, span in tree.per:
            if name not in certain(body):
                hint = f"The operand binds {_listed(certain(body))}."
                raise self._source.error(f"?{name} is never bound by what is taken per ?{name}", span, hint)
        for aggregate, span in tree.aggregates:
            if aggregate.variable is not None and aggregate.variable not in possible(body):
                hint = f"The operand binds {_listed(possible(body))}."
                raise self._source.error(f"?{aggregate.variable} is never bound", span, hint)
            if aggregate.name in possible(body):
                raise self._source.error(
                    f"?{aggregate.name} is bound already", span, "Choose a name of its own for it."
                )
        if len(made) != len(tree.aggregates):
            raise self._source.error("two aggregates have the same name", tree.span, "Choose a name for each.")

    def _check_bound(self, tree: Applied, bound: Names, hint_of: Names = frozenset()) -> None:
        """Refuse a condition on a variable that nothing binds."""
        for condition in tree.where:
            for variable in sorted(condition.variables, key=str):
                if variable.value not in bound:
                    hint = f"Bound here are {_listed(bound)}."
                    if variable.value in hint_of:
                        hint = (
                            f"Its members differ in it: say per ?{variable.value}, or aggregate it (with max(…) as …)."
                        )
                    span = condition.span or tree.span
                    raise self._source.error(f"?{variable.value} is never bound", span, hint)

    def _check_suffixes(self, tree: Applied) -> None:
        if (tree.per or tree.only) and tree.operator not in (TIMES, NOT):
            hint = "Only times and not are taken per variable; other operators correlate what their operands share."
            span = tree.per[0][1] if tree.per else tree.span
            raise self._source.error(f"per does not belong to {tree.operator}", span, hint)
        if tree.aggregates and tree.operator != TIMES:
            hint = "Only an iteration has members to aggregate: A times 5 with avg(?v) as ?mean."
            raise self._source.error(f"with does not belong to {tree.operator}", tree.aggregates[0][1], hint)
        if tree.policy and tree.operator not in _POLICY_OF:
            hint = "It consumes nothing: say it of the operator whose constituents may serve again."
            raise self._source.error(f"{tree.policy} does not belong to {tree.operator}", tree.span, hint)

    def _no_window(self, tree: Applied, what: str) -> Exception:
        hint = f"It is known only after some time that nothing came: say how long, for example: {what} B within 10 min."
        if isinstance(tree.operands[-1], Applied):
            whole = f"{'A ' if what != NOT else ''}{what} (B or C)"
            hint = f"What stands behind a bracket belongs to that bracket. Write a second one: ({whole}) within 10 min."
        return self._source.error(f'"{what}" needs a window', tree.span, hint)


def check_size(pattern: EventPattern, source: Source) -> EventPattern:
    """Return the pattern, if it is not too large with all the composites that it names."""
    waiting: list[tuple[EventPattern, int]] = [(pattern, 1)]
    parts = 0
    while waiting:
        each, depth = waiting.pop()
        parts += 1
        if parts > NODES_MAX or depth > DEPTH_MAX:
            hint = f"At most {NODES_MAX} operands and operators, {DEPTH_MAX} deep, are allowed with all that is named."
            raise source.limit("the pattern is too large", None, hint)
        waiting += [(operand, depth + 1) for operand in operands_of(each)]
    return pattern


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"?{name}" for name in sorted(names)) or "no variables"


def lookup_in(names: Mapping[str, Operand], source: Source) -> Lookup:
    """Return how to find names in a mapping."""

    def lookup(name: str, span: Span) -> Operand:
        if name not in names:
            raise unknown(name, names, source, span)
        return names[name]

    return lookup


def unknown(name: str, names: Iterable[str], source: Source, span: Span) -> Exception:
    """Return the error that there is no such name."""
    known = ", ".join(map(shown, nsmallest(SHOWN_MAX, names))) or "none"
    hint = f"Known are {known}. A name with other characters than letters, digits, - and _ is written in quotes."
    return source.error(f'there is no subscription "{shown(name)}"', span, hint)
