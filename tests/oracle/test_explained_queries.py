"""Explanations of queries tell the truth, on generated queries of the whole SPARQL language."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from sparql_cases import cases

from ontosub import Event, Explanation, Ontology, Subscription
from ontosub.languages.sparql import query_of
from ontosub.matching.explain import explain
from ontosub.matching.naive import Evaluation
from ontosub.matching.pattern_text import PatternText
from ontosub.matching.query_spine import spine
from ontosub.matching.residual import context_of
from ontosub.matching.showing import telling_apart
from ontosub.matching.solutions import Solutions
from ontosub.model.algebra import Extend, Filter, Grouping, Join, Minus, Node, Selection, variables_in
from ontosub.model.match import Match
from ontosub.model.terms import Variable
from ontosub.semantics import Entailment, EventGraph
from ontosub.semantics.budget import Budget

SEEDS, EVENTS = range(12), 3


@dataclass
class Case:
    """A query with a residual on an event, its verdict and its explanation."""

    text: str
    subscription: Subscription
    graph: EventGraph
    match: Match | None
    explanation: Explanation

    @property
    def nodes(self) -> list[Node]:
        return spine(query_of(self.subscription.residual).selection)

    def solutions(self, node: Node) -> list[dict]:
        """Evaluate a node by the definition, with nothing taken from the explanation."""
        return list(Solutions(self.graph, context_of(self.graph.event, Budget())).of(node))

    def written(self, node: Node) -> str:
        show = telling_apart(self.subscription.patterns, self.graph)
        return PatternText.of(self.nodes[-1], show).brief(node)

    @property
    def core_fails(self) -> bool:
        alone = Subscription("core", self.subscription.patterns)
        return Evaluation(alone).match(self.graph) is None


def explained(seed: int) -> Iterator[Case]:
    drawn = cases(seed, events=EVENTS)
    entailment = Entailment(Ontology.read(drawn.ontology, format="text/turtle"))
    graphs = [
        entailment.event_graph(Event.read(text, "application/n-quads", id=f"e{number}", dataset=True))
        for number, text in enumerate(drawn.events)
    ]
    for query in drawn.queries:
        subscription = Subscription.parse(query.text, id="s")
        if subscription.residual is not None:
            evaluation = Evaluation(subscription)
            for graph in graphs:
                match = evaluation.match(graph)
                yield Case(query.text, subscription, graph, match, explain(subscription, graph, match))


@pytest.mark.parametrize("seed", SEEDS)
def test_an_explanation_tells_the_truth(seed):
    for case in explained(seed):
        explanation = case.explanation
        assert explanation.matched == (case.match is not None)
        assert explanation.matched == (not explanation.failed), case.text
        assert not explanation.undecided, case.text
        assert all(reason.constraint and reason.detail for reason in (*explanation.held, *explanation.failed))
        if explanation.matched:
            check_answer(case)
            check_held(case, case.nodes)
        elif not case.core_fails:
            check_miss(case)


def check_answer(case: Case) -> None:
    """The mapping that is shown belongs to an answer."""
    shown = {name[1:]: term for name, term in case.explanation.mapping.items()}
    assert any(answer.items() <= shown.items() for answer in case.match.bindings), case.text


def check_miss(case: Case) -> None:
    """What is said to fail is the step after which no solution is left."""
    counts = [len(case.solutions(node)) for node in case.nodes]
    assert counts[-1] == 0
    decided = max(k for k in range(len(counts)) if k == 0 or counts[k - 1])
    node = case.nodes[decided]
    # Of a join, and of an innermost pattern, what fails inside of it may be named instead.
    if decided and not isinstance(node, Join):
        assert case.written(node) in [reason.constraint for reason in case.explanation.failed], case.text
    check_held(case, case.nodes[:decided])


def check_held(case: Case, nodes: list[Node]) -> None:
    """What is said to hold does hold of the mapping that is shown."""
    if any(isinstance(node, Grouping) for node in nodes) or any(isinstance(node, Selection) for node in nodes[:-1]):
        return  # the mapping does not have what was grouped, or not been projected
    shown = {Variable(name[1:]): term for name, term in case.explanation.mapping.items() if name.startswith("?")}
    held = " ".join(reason.constraint for reason in case.explanation.held)
    for node in nodes:
        if isinstance(node, Filter | Minus | Extend):
            solution = {v: term for v, term in shown.items() if v in variables_in(node)}
            found = [{v: t for v, t in each.items() if isinstance(v, Variable)} for each in case.solutions(node)]
            assert solution in found, case.text
        if isinstance(node, Minus):
            assert case.written(node) in held, case.text
