"""Why an event matched a subscription, or how near it came.

For a match: one mapping, and for each arc and class the given facts and the axioms behind it. For a miss: the largest
part of the pattern that does match, and what fails beside it, with the offending value (`nearest_part`). Of a query
that says more than its core: what its other parts did to that mapping, or which of them left no solution
(`explained_query`). All searches have a budget; what none of them could decide within it is said to be undecided.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from ontosub.languages.sparql import parse_query, query_of
from ontosub.languages.sparql.algebra import translate
from ontosub.matching.explained_query import Positions, explain_query
from ontosub.matching.nearest_part import Part, Parts
from ontosub.matching.reasons import Reason, Reasons
from ontosub.matching.showing import Show, telling_apart
from ontosub.matching.solutions import Solution
from ontosub.model import Match, Subscription
from ontosub.model.algebra import Query, parts_of
from ontosub.model.errors import LimitError, OntosubError, Span
from ontosub.model.terms import BlankNode, Term, Variable, written
from ontosub.semantics.budget import STEPS_MAX, Budget
from ontosub.semantics.event_graph import EventGraph
from ontosub.semantics.wording import term_text

BUDGET = 200_000
"""How many candidates, triples or vertices, the searches for the nearest miss may try together.

Each may try as many as the event graph has triples, even so: a large event is no reason to give up.
"""


@dataclass(frozen=True, slots=True)
class Explanation:
    """An answer to "why?" or "why not?". `str()` shows it to people, `to_dict()` to programs.

    `undecided` is what the budget of the search does not suffice to decide. When it does not even suffice to tell
    whether the event matches, `matched` is None.
    """

    subscription_id: str
    event_id: str
    matched: bool | None
    mapping: dict[str, Term]
    held: tuple[Reason, ...]
    failed: tuple[Reason, ...]
    undecided: tuple[Reason, ...] = ()
    show: Show = field(default=term_text, repr=False, compare=False)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return the explanation for people, line by line."""
        lines = [f"{self.subscription_id}: event {self.event_id} {self._verdict()}"]
        lines += [f"  {name} = {self.show(image)}" for name, image in self.mapping.items()]
        lines += [f"  + {reason}" for reason in self.held]
        lines += [f"  - {reason.located()}" for reason in self.failed]
        lines += [f"  ? {reason}" for reason in self.undecided]
        return lines

    def _verdict(self) -> str:
        if self.matched is None:
            return "takes too long to decide"
        total = len(self.held) + len(self.failed) + len(self.undecided)
        return "matches" if self.matched else f"does not match: {len(self.held)} of {total} constraints hold"

    def to_dict(self) -> dict[str, object]:
        """Return the explanation as plain JSON values, terms in N-Triples syntax."""
        return {
            "subscription": self.subscription_id,
            "event": self.event_id,
            "matched": self.matched,
            "mapping": {name: written(image) for name, image in self.mapping.items()},
            "held": [reason.to_dict() for reason in self.held],
            "failed": [reason.to_dict() for reason in self.failed],
            "undecided": [reason.to_dict() for reason in self.undecided],
        }


def explain(
    subscription: Subscription, graph: EventGraph, match: Match | None, budget: int = BUDGET, steps: int = STEPS_MAX
) -> Explanation:
    """Explain why the subscription matched the event graph, or its nearest miss.

    `match` is the verdict. The mapping that is shown for a match belongs to its first answer. When a residual overrules
    a core that does match, the part of the query that does so is what fails. `budget` is for the searches for parts of
    patterns, `steps` for the query.
    """
    show = telling_apart(subscription.patterns, graph)
    parts = [Parts(pattern, graph, budget // len(subscription.patterns)) for pattern in subscription.patterns]
    is_possible = match is not None or subscription.residual is not None
    whole = next((part for each in parts if (part := each.whole()) is not None), None) if is_possible else None
    found = Reasons()
    if whole is None:
        part = max((each.nearest() for each in parts), key=Part.rank)
        found.add(part, graph, show)
    else:
        rest, solution = _rest(subscription, graph, show, steps)
        agreeing = next((part for each in parts if (part := each.whole(solution)) is not None), None)
        part = whole if agreeing is None else replace(agreeing, mu={**solution, **agreeing.mu})
        found.add(part, graph, show)
        _extend(found, rest)
    mapping = {str(term): image for term, image in part.mu.items() if isinstance(term, Variable | BlankNode)}
    reasons = (tuple(found.held), tuple(found.failed), tuple(found.undecided))
    return Explanation(subscription.id, graph.event.id, match is not None, mapping, *reasons, show)


def undecided(subscription: Subscription, graph: EventGraph, error: LimitError) -> Explanation:
    """Return the explanation of a subscription that costs too much to decide."""
    reason = Reason("the subscription as a whole", f"was given up: {error}")
    return Explanation(subscription.id, graph.event.id, None, {}, (), (), (reason,))


def _rest(subscription: Subscription, graph: EventGraph, show: Show, steps: int) -> tuple[Reasons, Solution]:
    """Return what the query says beyond its core, and the solution that this is about."""
    if subscription.residual is None:
        return Reasons(), {}
    query = query_of(subscription.residual)
    return explain_query(query, graph, Budget(steps), show, _positions(query, subscription.text))


def _extend(found: Reasons, rest: Reasons) -> None:
    """Add the reasons of the rest, but for what the core has said already. Labels of blank nodes do not count."""
    said = {_without_labels(reason.constraint) for reason in found.held}
    said |= {f"FILTER({text})" for text in said}
    found.held += dict.fromkeys(each for each in rest.held if _without_labels(each.constraint) not in said)
    found.failed += rest.failed
    found.undecided += rest.undecided


def _without_labels(text: str) -> str:
    return re.sub(r"_:[^ ]+", "_:", text)


def _positions(query: Query, text: str | None) -> Positions:
    """Return where the parts of a residual stand in the text that the subscriber wrote, as far as that can be known.

    A text that needs prefixes from elsewhere does not tell.
    """
    try:
        original = translate(parse_query(text or ""))
    except OntosubError:
        return {}
    if original != query:
        return {}
    pairs = zip(parts_of(query), parts_of(original), strict=True)
    return {id(part): span for part, twin in pairs if isinstance(span := getattr(twin, "span", None), Span)}
