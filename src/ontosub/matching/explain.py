"""Why an event matched a subscription, or how near it came.

For a match: one mapping, and for each arc and class the given facts and the axioms behind it. For a miss: the largest
part of the pattern that does match, and what fails beside it, with the offending value.

The part is found greedily (a constraint is kept if it can hold together with those kept before), and improved when
leaving out a single constraint is enough. So with one or two failing constraints it is the largest there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ontosub.matching.constraints import Constraint, constraints_of, restricted
from ontosub.matching.naive import Mu, mappings
from ontosub.model import Binding, GraphPattern, Match, Subscription
from ontosub.model.terms import BlankNode, Term, Triple, Variable
from ontosub.semantics.event_graph import EventGraph
from ontosub.semantics.wording import term_text


@dataclass(frozen=True, slots=True)
class Reason:
    """A constraint of the pattern, and why it holds or fails.

    `facts` are given triples (of the event or the background), `axioms` the ontology's statements applied to them.
    """

    constraint: str
    detail: str
    facts: tuple[Triple, ...] = ()
    axioms: tuple[Triple, ...] = ()

    def __str__(self) -> str:
        because = [_statement(triple) for triple in (*self.facts, *self.axioms)]
        return f"{self.constraint}: {self.detail}" + (f"  [{'; '.join(because)}]" if because else "")


@dataclass(frozen=True, slots=True)
class Explanation:
    """An answer to "why?" or "why not?". `str()` shows it to people, `to_dict()` to programs."""

    subscription_id: str
    event_id: str
    matched: bool
    mapping: dict[str, Term]
    held: tuple[Reason, ...]
    failed: tuple[Reason, ...]

    def __str__(self) -> str:
        total = len(self.held) + len(self.failed)
        verdict = "matches" if self.matched else f"does not match: {len(self.held)} of {total} constraints hold"
        lines = [f"{self.subscription_id}: event {self.event_id} {verdict}"]
        lines += [f"  {name} = {term_text(image)}" for name, image in self.mapping.items()]
        lines += [f"  + {reason}" for reason in self.held]
        lines += [f"  - {reason}" for reason in self.failed]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, object]:
        """Return the explanation as plain JSON values, terms in N-Triples syntax."""
        return {
            "subscription": self.subscription_id,
            "event": self.event_id,
            "matched": self.matched,
            "mapping": {name: str(image) for name, image in self.mapping.items()},
            "held": [_plain(reason) for reason in self.held],
            "failed": [_plain(reason) for reason in self.failed],
        }


def _plain(reason: Reason) -> dict[str, object]:
    return {
        "constraint": reason.constraint,
        "detail": reason.detail,
        "facts": [str(triple) for triple in reason.facts],
        "axioms": [str(triple) for triple in reason.axioms],
    }


def explain(subscription: Subscription, graph: EventGraph, match: Match | None) -> Explanation:
    """Explain why the subscription matched the event graph, or its nearest miss.

    `match` is the verdict. The mapping that is shown for a match belongs to its first answer. When a residual overrules
    a core that does match, the residual is what fails.
    """
    matched = match is not None
    part = max((_best_part(pattern, graph) for pattern in subscription.patterns), key=_Part.rank)
    if match is not None and subscription.residual is not None:
        part = _part_of_answer(subscription.patterns[0], graph, match.bindings[0]) or part
    held = [Reason(c.text, c.support(part.mu, graph), *_proof(c.triple(part.mu), graph)) for c in part.held]
    failed = [Reason(c.text, c.failure(part.mu, graph)) for c in part.failed]
    if subscription.residual is not None:
        residual = Reason("the rest of the query", "has an answer" if matched else "has no answer", (), ())
        (held if matched else failed).append(residual)
    mapping = {_name(term): image for term, image in part.mu.items() if isinstance(term, Variable | BlankNode)}
    return Explanation(subscription.id, graph.event.id, matched, mapping, tuple(held), tuple(failed))


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a pattern that matches, how it does, and what is left out."""

    mu: Mu
    held: Sequence[Constraint]
    failed: Sequence[Constraint]

    def rank(self) -> tuple[bool, float]:
        return not self.failed, len(self.held) / (len(self.held) + len(self.failed) or 1)


def _part_of_answer(pattern: GraphPattern, graph: EventGraph, answer: Binding) -> _Part | None:
    """Return a mapping of a residual's core that agrees with an answer of the whole query."""
    for mu in mappings(pattern, graph):
        if all(mu.get(Variable(name), term) == term for name, term in answer.items()):
            return _Part(mu, constraints_of(pattern), [])
    return None


def _best_part(pattern: GraphPattern, graph: EventGraph) -> _Part:
    constraints = constraints_of(pattern)
    part = _part(pattern, graph, constraints, []) or _greedy(pattern, graph, constraints)
    if len(part.failed) > 1:
        for left_out in constraints:
            kept = [constraint for constraint in constraints if constraint != left_out]
            smaller_miss = _part(pattern, graph, kept, [left_out])
            if smaller_miss is not None:
                return smaller_miss
    return part


def _greedy(pattern: GraphPattern, graph: EventGraph, constraints: Sequence[Constraint]) -> _Part:
    part = _Part({}, [], [])
    for constraint in constraints:
        longer = _part(pattern, graph, [*part.held, constraint], part.failed)
        part = longer or _Part(part.mu, part.held, [*part.failed, constraint])
    return part


def _part(
    pattern: GraphPattern, graph: EventGraph, kept: Sequence[Constraint], left_out: Sequence[Constraint]
) -> _Part | None:
    mu = next(mappings(restricted(pattern, kept), graph), None)
    return None if mu is None else _Part(mu, kept, left_out)


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


def _statement(triple: Triple) -> str:
    return " ".join(term_text(term) for term in (triple.subject, triple.predicate, triple.object))
