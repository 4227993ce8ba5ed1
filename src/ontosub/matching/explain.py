"""Why an event matched a subscription, or how near it came.

For a match: one mapping, and for each arc and class the given facts and the axioms behind it. For a miss: the largest
part of the pattern that does match, and what fails beside it, with the offending value.

The part is found greedily (a constraint is kept if it can hold together with those kept before), and improved when
leaving out a single constraint is enough. So with one or two failing constraints it is the largest there is. All the
searches together have a budget; a constraint that none of them could decide within it is said to be undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ontosub.matching.constraints import Constraint, constraints_of, restricted
from ontosub.matching.definition import Mu, mappings
from ontosub.matching.showing import Show, telling_apart
from ontosub.model import Binding, GraphPattern, Match, Subscription
from ontosub.model.errors import LimitError
from ontosub.model.terms import BlankNode, Term, Triple, Variable, written
from ontosub.semantics.budget import Budget
from ontosub.semantics.context import Context
from ontosub.semantics.event_graph import EventGraph
from ontosub.semantics.wording import term_text

BUDGET = 200_000
"""How many candidates, triples or vertices, the searches for the nearest miss may try together.

Each may try as many as the event graph has triples, even so: a large event is no reason to give up.
"""

CONSTRAINTS_MAX = 200
"""How many constraints of a pattern are tried: each is a search of its own, whose preparation is quadratic in them."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A constraint of the pattern, and why it holds or fails.

    `facts` are given triples (of the event or the background), `axioms` the ontology's statements applied to them.
    """

    constraint: str
    detail: str
    facts: tuple[Triple, ...] = ()
    axioms: tuple[Triple, ...] = ()
    show: Show = field(default=term_text, repr=False, compare=False)

    def __str__(self) -> str:
        because = [_statement(triple, self.show) for triple in (*self.facts, *self.axioms)]
        return f"{self.constraint}: {self.detail}" + (f"  [{'; '.join(because)}]" if because else "")


@dataclass(frozen=True, slots=True)
class Explanation:
    """An answer to "why?" or "why not?". `str()` shows it to people, `to_dict()` to programs.

    `undecided` are the constraints of which the budget of the search does not tell whether they hold or fail.
    """

    subscription_id: str
    event_id: str
    matched: bool
    mapping: dict[str, Term]
    held: tuple[Reason, ...]
    failed: tuple[Reason, ...]
    undecided: tuple[Reason, ...] = ()
    show: Show = field(default=term_text, repr=False, compare=False)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return the explanation for people, line by line."""
        total = len(self.held) + len(self.failed) + len(self.undecided)
        verdict = "matches" if self.matched else f"does not match: {len(self.held)} of {total} constraints hold"
        lines = [f"{self.subscription_id}: event {self.event_id} {verdict}"]
        lines += [f"  {name} = {self.show(image)}" for name, image in self.mapping.items()]
        lines += [f"  + {reason}" for reason in self.held]
        lines += [f"  - {reason}" for reason in self.failed]
        lines += [f"  ? {reason}" for reason in self.undecided]
        return lines

    def to_dict(self) -> dict[str, object]:
        """Return the explanation as plain JSON values, terms in N-Triples syntax."""
        return {
            "subscription": self.subscription_id,
            "event": self.event_id,
            "matched": self.matched,
            "mapping": {name: written(image) for name, image in self.mapping.items()},
            "held": [_plain(reason) for reason in self.held],
            "failed": [_plain(reason) for reason in self.failed],
            "undecided": [_plain(reason) for reason in self.undecided],
        }


def _plain(reason: Reason) -> dict[str, object]:
    return {
        "constraint": reason.constraint,
        "detail": reason.detail,
        "facts": [str(triple) for triple in reason.facts],
        "axioms": [str(triple) for triple in reason.axioms],
    }


def explain(subscription: Subscription, graph: EventGraph, match: Match | None, budget: int = BUDGET) -> Explanation:
    """Explain why the subscription matched the event graph, or its nearest miss.

    `match` is the verdict. The mapping that is shown for a match belongs to its first answer. When a residual overrules
    a core that does match, the residual is what fails.
    """
    matched = match is not None
    patterns, residual = subscription.patterns, subscription.residual
    is_known_miss = match is None and residual is None
    parts = (_Parts(pattern, graph, budget // len(patterns)) for pattern in patterns)
    part = max(((each.nearest() if is_known_miss else each.best()) for each in parts), key=_Part.rank)
    if match is not None and residual is not None:
        answering = (_part_of_answer(pattern, graph, match.bindings[0]) for pattern in patterns)
        part = next((each for each in answering if each is not None), part)
    show = telling_apart(patterns, graph)
    mu = part.mu
    held = [Reason(c.text(show), c.support(mu, graph, show), *_proof(c.triple(mu), graph), show) for c in part.held]
    failed = [Reason(c.text(show), c.failure(mu, graph, show)) for c in part.failed]
    undecided = [Reason(c.text(show), "the search was given up, it would take too long") for c in part.undecided]
    if residual is not None:
        rest = Reason("the rest of the query", "has an answer" if matched else "has no answer")
        (held if matched else failed).append(rest)
    mapping = {_name(term): image for term, image in mu.items() if isinstance(term, Variable | BlankNode)}
    reasons = (tuple(held), tuple(failed), tuple(undecided))
    return Explanation(subscription.id, graph.event.id, matched, mapping, *reasons, show)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a pattern that matches, how it does, what is left out, and what could not be decided."""

    mu: Mu
    held: Sequence[Constraint]
    failed: Sequence[Constraint] = ()
    undecided: Sequence[Constraint] = ()

    def rank(self) -> tuple[bool, float]:
        total = len(self.held) + len(self.failed) + len(self.undecided)
        return len(self.held) == total, len(self.held) / (total or 1)


def _part_of_answer(pattern: GraphPattern, graph: EventGraph, answer: Binding) -> _Part | None:
    """Return a mapping of a residual's core that agrees with an answer of the whole query."""
    try:
        for mu in mappings(pattern, graph):
            if all(mu.get(Variable(name), term) == term for name, term in answer.items()):
                return _Part(mu, constraints_of(pattern))
    except LimitError:
        pass
    return None


class _Parts:
    """The parts of one pattern that match. The whole may cost what deciding it did; smaller ones share the budget."""

    def __init__(self, pattern: GraphPattern, graph: EventGraph, budget: int) -> None:
        self._pattern = pattern
        self._graph = graph
        self._constraints = constraints_of(pattern)
        self._share = max(budget // (2 * len(self._constraints) + 1), len(graph.triples))

    def best(self) -> _Part:
        """Return the whole if it matches, else the nearest part."""
        try:
            mu = next(mappings(self._pattern, self._graph), None)
        except LimitError:
            mu = None
        return self.nearest() if mu is None else _Part(mu, self._constraints)

    def nearest(self) -> _Part:
        """Return the largest part found, short of the whole."""
        part = self._greedy()
        return part if len(part.failed) + len(part.undecided) <= 1 else self._without_one() or part

    def _greedy(self) -> _Part:
        mu: Mu = {}
        held: list[Constraint] = []
        failed: list[Constraint] = []
        undecided: list[Constraint] = []
        for constraint in self._constraints[:CONSTRAINTS_MAX]:
            try:
                longer = self._search([*held, constraint])
            except LimitError:
                undecided.append(constraint)
                continue
            if longer is None:
                failed.append(constraint)
            else:
                mu = longer
                held.append(constraint)
        return _Part(mu, held, failed, [*undecided, *self._constraints[CONSTRAINTS_MAX:]])

    def _without_one(self) -> _Part | None:
        """Return the part that leaves out a single constraint, if there is one."""
        for left_out in self._constraints if len(self._constraints) <= CONSTRAINTS_MAX else ():
            kept = [constraint for constraint in self._constraints if constraint != left_out]
            try:
                mu = self._search(kept)
            except LimitError:
                continue
            if mu is not None:
                return _Part(mu, kept, [left_out])
        return None

    def _search(self, kept: Sequence[Constraint]) -> Mu | None:
        return next(mappings(restricted(self._pattern, kept), self._graph, Context(Budget(steps=self._share))), None)


def _proof(triple: Triple | None, graph: EventGraph) -> tuple[tuple[Triple, ...], tuple[Triple, ...]]:
    """Return the given facts and the axioms behind a triple of the event graph."""
    facts: dict[Triple, None] = {}
    axioms: dict[Triple, None] = {}
    waiting = [] if triple is None or triple not in graph.derivations else [triple]
    while waiting:
        found = waiting.pop()
        derivation = graph.derivations[found]
        if derivation is None:
            facts[found] = None
        else:
            axioms[derivation.axiom] = None
            waiting.extend(derivation.premises)
    return tuple(facts), tuple(axioms)


def _name(term: Variable | BlankNode) -> str:
    return str(term)


def _statement(triple: Triple, show: Show) -> str:
    return " ".join(show(term) for term in (triple.subject, triple.predicate, triple.object))
