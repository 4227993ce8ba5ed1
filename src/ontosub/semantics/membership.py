"""The list of an IN, arranged so that a long one costs its length once and not for each solution."""

from __future__ import annotations

from dataclasses import dataclass

from ontosub.model.expression import Call, Expression
from ontosub.model.terms import Literal, NamedNode, Term
from ontosub.semantics.budget import Budget
from ontosub.semantics.values import LanguageString, value_of


@dataclass(frozen=True, slots=True)
class Members:
    """What a term is looked for among.

    `terms` are the constants that only the same term is equal to: IRIs and strings. `others` are all other members.
    `call` is kept with them, so that no other object gets its id.
    """

    call: Call
    terms: frozenset[Term]
    has_strings: bool
    others: tuple[Expression, ...]

    def confuse(self, sought: Term) -> bool:
        """Say whether a term that is not among them cannot be compared with one of them: its value is not known."""
        return self.has_strings and isinstance(sought, Literal) and value_of(sought) is None


def members_of(call: Call, budget: Budget) -> Members:
    """Arrange the members of `IN` or `NOT IN`: all arguments but the first."""
    terms: set[Term] = set()
    others: list[Expression] = []
    has_strings = False
    budget.spend(len(call.arguments))
    for member in call.arguments[1:]:
        if isinstance(member, NamedNode):
            terms.add(member)
        elif isinstance(member, Literal) and isinstance(value_of(member), str | LanguageString):
            terms.add(member)
            has_strings = has_strings or member.language is None
        else:
            others.append(member)
    return Members(call, frozenset(terms), has_strings, tuple(others))
