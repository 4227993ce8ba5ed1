"""Subscriptions as SPARQL text, for engines that read nothing else.

SPARQL has no home vertex and no injective patterns. The home vertex becomes an IRI, which takes its place in the graph
of the event as well; injectivity becomes a filter for each pair of vertices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from ontosub.languages.sparql.printer import from_model, print_expression
from ontosub.model import GraphPattern, Subscription
from ontosub.model.terms import BlankNode, NamedNode, PatternTerm, Resource, Term, Triple

HOME_IRI = NamedNode("urn:ontosub:bench:home")


def existence_query(subscription: Subscription) -> str:
    """Return a query that has an answer exactly when an entailed event graph, home renamed, matches."""
    if subscription.residual is not None:
        return subscription.residual
    return f"ASK {{ {_union(subscription)} }}"


def bindings_query(subscription: Subscription) -> str:
    """Return a query whose solutions are the bindings of a subscription."""
    if subscription.residual is not None:
        return subscription.residual
    variables = dict.fromkeys(variable for pattern in subscription.patterns for variable in pattern.projected)
    names = " ".join(map(str, variables)) or "(1 AS ?one)"
    return f"SELECT {'DISTINCT ' if subscription.distinct else ''}{names} {{ {_union(subscription)} }}"


def _union(subscription: Subscription) -> str:
    """Return the alternatives of a subscription, each as a group."""
    return " UNION ".join(f"{{ {group_text(pattern)} }}" for pattern in subscription.patterns)


def group_text(pattern: GraphPattern) -> str:
    """Return the group graph pattern that says what the pattern says."""
    return " ".join(_statements(pattern))


def _statements(pattern: GraphPattern) -> Iterator[str]:
    names = {vertex.term: _name(vertex.term, pattern.home) for vertex in pattern.vertices}
    for arc in pattern.arcs:
        yield f"{names[arc.subject]} {arc.property} {names[arc.object]} ."
    for vertex in pattern.vertices:
        for class_ in sorted(vertex.classes, key=str):
            yield f"{names[vertex.term]} a {class_} ."
    for condition in pattern.filters:
        yield f"FILTER({print_expression(from_model(condition.expression))})"
    if pattern.injective:
        for first, second in combinations(names.values(), 2):
            yield f"FILTER({first} != {second})"


def _name(term: PatternTerm, home: PatternTerm | None) -> str:
    if term == home:
        return str(HOME_IRI)
    return f"?blank_{term.value}" if isinstance(term, BlankNode) else str(term)


def with_home_named(triples: Iterable[Triple], home: Resource | None) -> Iterator[Triple]:
    """Yield the triples with the home vertex called by its IRI."""

    def named(term: Term) -> Term:
        return HOME_IRI if term == home else term

    for triple in triples:
        yield Triple(named(triple.subject), triple.predicate, named(triple.object))  # type: ignore[arg-type]
