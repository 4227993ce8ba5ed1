"""Composite subscriptions in Python: `on(smoke).before(on(heat)).within("10 min").composite("fire")`.

A builder grows the same tree that a text is read into; so it means the same, and the same is refused.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Literal

from ontosub.languages.composite.durations import parse_duration
from ontosub.languages.composite.reader import Reader
from ontosub.languages.composite.resolving import Operand, Resolver, check_size, lookup_in
from ontosub.languages.composite.syntax import (
    AND,
    AND_NOT,
    NOT,
    OR,
    PARALLEL,
    RESTRICT,
    TIMES,
    Applied,
    Chosen,
    Named,
    Syntax,
)
from ontosub.languages.composite.tokens import is_variable
from ontosub.languages.prologue import Fault, Prologue
from ontosub.languages.sparql.source import Source
from ontosub.model.composite import COUNT_MAX, Composite, Policy
from ontosub.model.errors import LanguageError, Span, UsageError
from ontosub.model.relation import Relation

_NOWHERE = Span(1, 1, 1, 1)


class _Unwritten(Source):
    """What a builder has instead of a text: its errors point nowhere."""

    def error(self, message: str, span: Span | None, hint: str) -> LanguageError:
        return LanguageError(message, hint=hint)


def on(operand: Operand, *variables: str, **renamed: str) -> Pattern:
    """Return the pattern of a subscription or composite, to build others from.

    Without `variables` and `renamed`, all variables of the answers take part; else only these. `t="t1"` lets ?t take
    part as ?t1. Raises UsageError for a name that no variable can have.
    """
    chosen = [(name.removeprefix("?"), name.removeprefix("?")) for name in variables]
    chosen += [(name, new.removeprefix("?")) for name, new in renamed.items()]
    for _, name in chosen:
        if not is_variable(name):
            raise UsageError(f"{name!r} cannot be the name of a variable")
    named = tuple(Chosen(old, new, _NOWHERE) for old, new in chosen)
    return Pattern(Named(operand.id, _NOWHERE, named or None), {operand.id: operand})


class Pattern:
    """An event pattern that is being built. Every method returns another one."""

    def __init__(self, tree: Syntax, names: dict[str, Operand]) -> None:
        self._tree = tree
        self._names = names

    def and_(self, other: Pattern) -> Pattern:
        """Both, in any order."""
        return self._joined(AND, other)

    def or_(self, other: Pattern) -> Pattern:
        """Either; with a window, both together when they fall into it."""
        return self._joined(OR, other)

    def and_not(self, other: Pattern) -> Pattern:
        """This, and the other does not follow; needs a window."""
        return self._joined(AND_NOT, other)

    def parallel(self, other: Pattern) -> Pattern:
        """Both over the same interval."""
        return self._joined(PARALLEL, other)

    def related(self, relation: Relation | str, other: Pattern) -> Pattern:
        """Both, this one in a relation of Allen to the other. Raises UsageError when there is no such relation."""
        if relation not in list(Relation):
            raise UsageError(f"there is no relation {relation!r}: choose from {', '.join(Relation)}")
        return self._joined(Relation(relation).value, other)

    def before(self, other: Pattern) -> Pattern:
        """This one ends before the other starts."""
        return self.related(Relation.BEFORE, other)

    def after(self, other: Pattern) -> Pattern:
        """This one starts after the other ends."""
        return self.related(Relation.AFTER, other)

    def meets(self, other: Pattern) -> Pattern:
        """This one ends where the other starts."""
        return self.related(Relation.MEETS, other)

    def met_by(self, other: Pattern) -> Pattern:
        """This one starts where the other ends."""
        return self.related(Relation.MET_BY, other)

    def overlaps(self, other: Pattern) -> Pattern:
        """This one starts first and ends inside the other."""
        return self.related(Relation.OVERLAPS, other)

    def overlapped_by(self, other: Pattern) -> Pattern:
        """This one starts inside the other and ends last."""
        return self.related(Relation.OVERLAPPED_BY, other)

    def starts(self, other: Pattern) -> Pattern:
        """Both start together, this one ends first."""
        return self.related(Relation.STARTS, other)

    def started_by(self, other: Pattern) -> Pattern:
        """Both start together, this one ends last."""
        return self.related(Relation.STARTED_BY, other)

    def during(self, other: Pattern) -> Pattern:
        """This one lies inside the other."""
        return self.related(Relation.DURING, other)

    def includes(self, other: Pattern) -> Pattern:
        """The other lies inside this one."""
        return self.related(Relation.INCLUDES, other)

    def finishes(self, other: Pattern) -> Pattern:
        """Both end together, this one starts last."""
        return self.related(Relation.FINISHES, other)

    def finished_by(self, other: Pattern) -> Pattern:
        """Both end together, this one starts first."""
        return self.related(Relation.FINISHED_BY, other)

    def equals(self, other: Pattern) -> Pattern:
        """Both over the same interval."""
        return self.related(Relation.EQUALS, other)

    def __and__(self, other: Pattern) -> Pattern:
        return self.and_(other)

    def __or__(self, other: Pattern) -> Pattern:
        return self.or_(other)

    def __invert__(self) -> Pattern:
        """It does not occur; needs a window."""
        return Pattern(Applied(NOT, [self._tree], _NOWHERE), self._names)

    def times(self, count: int | Literal["*"]) -> Pattern:
        """So many in a row; `"*"` for as many as come, which needs a window."""
        if count != "*" and not (isinstance(count, int) and 1 <= count <= COUNT_MAX):
            raise UsageError(f'write how often, from 1 to {COUNT_MAX:,}, or "*": {count!r} is neither')
        number = None if count == "*" else count
        return Pattern(Applied(TIMES, [self._tree], _NOWHERE, count=number), self._names)

    def within(self, window: str | timedelta) -> Pattern:
        """Restrict the operator that was applied last to a window: "10 min", "PT10M"."""
        if isinstance(window, str):
            try:
                window = parse_duration(window)
            except Fault as fault:
                raise LanguageError(fault.message, hint=fault.hint) from None
        tree = self._tree
        if not isinstance(tree, Applied) or tree.window is not None:
            tree = Applied(RESTRICT, [tree], _NOWHERE)
        return self._with(replace(tree, window=window))

    def where(self, condition: str) -> Pattern:
        """Ask for a condition on the operands' variables: "?t2 > ?t1 + 5"."""
        target = Applied(RESTRICT, [], _NOWHERE)
        Reader(Source(f"where {condition}"), Prologue()).only_suffix(target)
        tree = self._applied()
        return self._with(replace(tree, where=[*tree.where, *target.where]))

    def per(self, *variables: str) -> Pattern:
        """Take an iteration or negation for each value of these variables."""
        return self._with(replace(self._applied(), per=[(name.removeprefix("?"), _NOWHERE) for name in variables]))

    def aggregate(self, **aggregates: str) -> Pattern:
        """Bind variables to values over the members of an iteration: `n="count"`, `mean="avg(?value)"`."""
        target = Applied(TIMES, [], _NOWHERE)
        written = ", ".join(f"{function} as ?{name}" for name, function in aggregates.items())
        Reader(Source(f"with {written}"), Prologue()).only_suffix(target)
        return self._with(replace(self._applied(), aggregates=target.aggregates))

    def reuse(self) -> Pattern:
        """Let constituents of the operator that was applied last serve again."""
        return self._with(replace(self._applied(), policy=Policy.REUSE))

    def composite(self, id: str, policy: Policy = Policy.CONSUME) -> Composite:
        """Return the composite subscription. Raises LanguageError for what would be refused as text, too."""
        source = _Unwritten("")
        resolver = Resolver(source, Prologue(), lookup_in(self._names, source), policy)
        return Composite(id, check_size(resolver.pattern(self._tree), source), tuple(resolver.subscriptions.values()))

    def _applied(self) -> Applied:
        return self._tree if isinstance(self._tree, Applied) else Applied(RESTRICT, [self._tree], _NOWHERE)

    def _with(self, tree: Applied) -> Pattern:
        return Pattern(replace(tree, closed=True), self._names)

    def _joined(self, operator: str, other: Pattern) -> Pattern:
        names = self._names
        for name, operand in other._names.items():
            if names.get(name, operand) != operand:
                raise UsageError(f"two different operands have the id {name!r}")
            names = {**names, name: operand}
        tree = self._tree
        if isinstance(tree, Applied) and tree.operator == operator != AND_NOT and not tree.closed:
            return Pattern(replace(tree, operands=[*tree.operands, other._tree]), names)
        return Pattern(Applied(operator, [tree, other._tree], _NOWHERE), names)
