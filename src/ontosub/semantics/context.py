"""What an expression may need besides a binding: a budget, an event, and somebody who understands patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from ontosub.model.expression import Exists
from ontosub.model.terms import Term, Variable
from ontosub.semantics.budget import Budget
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.membership import Members

Assignment: TypeAlias = Mapping[Variable, Term]
"""What the variables stand for. A variable that is missing is unbound."""


def _no_patterns(exists: Exists, binding: Assignment) -> bool:
    raise ExpressionError("patterns cannot be looked for here")


@dataclass(slots=True)
class Context:
    """Where expressions are evaluated: once for each subscription on each event.

    `exists` says whether the pattern of an EXISTS has a solution under a binding. `base` is what IRI() resolves
    relative IRIs against, unless the call says so itself. `moment` is NOW(): the end of the event's interval.
    """

    budget: Budget = field(default_factory=Budget)
    exists: Callable[[Exists, Assignment], bool] = _no_patterns
    base: str | None = None
    event_id: str = ""
    moment: datetime | None = None
    patterns: set[str] = field(default_factory=set, init=False, repr=False, compare=False)
    """The patterns of REGEX and REPLACE that were met."""
    members: dict[int, Members] = field(default_factory=dict, init=False, repr=False, compare=False)
    """The lists of IN that were met, by the id of their call."""
