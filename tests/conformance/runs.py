"""Running a case: subscribe, publish, compare.

A SPARQL case reads its data as an event and its query as a subscription. An entailment case gives its premise twice,
as the ontology and as the event, because schema statements inside an event are plain data; its conclusion is a basic
graph pattern that must, or must not, match.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from pyoxigraph import Quad

from conformance.manifests import Case
from conformance.results import Result, read_graph, read_result, same
from ontosub import Event, GraphPattern, Match, Matcher, Ontology, OntosubError, OntosubWarning, Subscription
from ontosub.model import Arc, Vertex
from ontosub.model.errors import LanguageError, Severity
from ontosub.model.terms import TYPE, NamedNode, Term, Triple


@cache
def fault(case: Case) -> str | None:
    """Run the case; return why it did not pass, or None when it did."""
    try:
        return _RUNS[case.kind](case)
    except (OntosubError, OSError) as error:
        return f"{type(error).__name__}: {error}"


def _evaluation(case: Case) -> str | None:
    expected = read_result(case.result)
    found = _match(Ontology(), _event(case), _subscription(case))
    got = _as_result(found, expected)
    return None if same(got, expected, lax=case.lax) else f"expected {_shown(expected)}, got {_shown(got)}"


def _event(case: Case) -> Event:
    event = Event.read("", "text/turtle") if case.data is None else Event.read(case.data, base=case.data.as_uri())
    named = frozenset(
        Quad(triple.subject, triple.predicate, triple.object, NamedNode(path.as_uri()))
        for path in case.named_graphs
        for triple in Event.read(path, base=path.as_uri()).graph
    )
    return replace(event, named_graphs=named)


def _accepted(case: Case) -> str | None:
    _subscription(case)
    return None


def _refused(case: Case) -> str | None:
    try:
        _subscription(case)
    except LanguageError:
        return None
    return "the query is malformed, but was accepted"


def _entailed(case: Case) -> str | None:
    return None if _holds(case) else "the conclusion does not follow"


def _not_entailed(case: Case) -> str | None:
    return "the conclusion follows" if _holds(case) else None


def _holds(case: Case) -> bool:
    """Say whether the premise entails the conclusion; the conclusion `false` is entailed by an inconsistency only."""
    ontology = Ontology.read(case.action, base=case.action.as_uri())
    if case.result is not False:
        return _follows(ontology, case.action, case.result)
    if not _follows(ontology, case.action, case.action):
        raise OntosubError("the premise does not even entail itself")
    return any(finding.severity is Severity.ERROR for finding in ontology.check())


def _follows(ontology: Ontology, premise: Path, conclusion: Path) -> bool:
    question = Subscription("conclusion", (_pattern(read_graph(conclusion)),))
    return _match(ontology, Event.read(premise, base=premise.as_uri()), question) is not None


def _pattern(graph: Iterable[Triple]) -> GraphPattern:
    """Return the graph as a pattern. A query would not do: its reader refuses the ill-typed literals of some cases."""
    classes: dict[Term, set[NamedNode]] = {}
    arcs = []
    for triple in graph:
        asked = classes.setdefault(triple.subject, set())
        if triple.predicate == TYPE and isinstance(triple.object, NamedNode):
            asked.add(triple.object)
        else:
            arcs.append(Arc(triple.subject, triple.predicate, triple.object))
    return GraphPattern(tuple(Vertex(term, frozenset(asked)) for term, asked in classes.items()), tuple(arcs))


def _subscription(case: Case) -> Subscription:
    return Subscription.parse(f"BASE <{case.action.as_uri()}>\n{case.action.read_text(encoding='utf-8')}", id=case.id)


def _match(ontology: Ontology, event: Event, subscription: Subscription) -> Match | None:
    matcher = Matcher(ontology, algorithm="naive")
    with warnings.catch_warnings():
        # A conclusion may well ask for words that its premise does not know.
        warnings.simplefilter("ignore", OntosubWarning)
        matcher.subscribe(subscription)
    return next(iter(matcher.match(event)), None)


def _as_result(found: Match | None, expected: Result) -> Result:
    """Return the match as a result of the expected form. An event that does not match gives no row and no triple."""
    if isinstance(expected, bool):
        return found is not None
    if isinstance(expected, frozenset):
        return frozenset() if found is None else found.graph
    return [] if found is None else found.bindings


def _shown(result: Result) -> str:
    if isinstance(result, bool):
        return str(result).lower()
    if isinstance(result, frozenset):
        return f"a graph of {len(result)} triples"
    return f"{len(result)} rows: {sorted(sorted((k, str(v)) for k, v in row.items()) for row in result)}"


_RUNS = {
    "QueryEvaluationTest": _evaluation,
    "PositiveSyntaxTest": _accepted,
    "NegativeSyntaxTest": _refused,
    "PositiveEntailmentTest": _entailed,
    "NegativeEntailmentTest": _not_entailed,
}
