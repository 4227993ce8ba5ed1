"""The events of a dataset: one for each named graph.

The default graph is an event too, unless it only describes the named graphs: when every subject in it is the name of
a graph, its statements join the events they speak of.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import DefaultGraph, Quad

from ontosub.formats.reading import Member
from ontosub.model.event import find_home
from ontosub.model.terms import NamedNode, Resource, Term, Triple


def whole_dataset(quads: Iterable[Quad]) -> Member:
    """Return the one event that a dataset is: its default graph, with the named graphs at hand."""
    quads = list(quads)
    triples = [quad.triple for quad in quads if isinstance(quad.graph_name, DefaultGraph)]
    return Member(triples, named_graphs=frozenset(q for q in quads if not isinstance(q.graph_name, DefaultGraph)))


def members_of(quads: Iterable[Quad]) -> list[Member]:
    """Return the events of a dataset in order of appearance; an empty dataset is one event without triples."""
    default: list[Triple] = []
    named: dict[Resource, list[Triple]] = {}
    for quad in quads:
        if isinstance(quad.graph_name, DefaultGraph):
            default.append(quad.triple)
        else:
            named.setdefault(quad.graph_name, []).append(quad.triple)
    about: dict[Term, list[Triple]] = {}
    if named and all(triple.subject in named for triple in default):
        for triple in default:
            about.setdefault(triple.subject, []).append(triple)
        default = []
    found = [_named(name, triples, about.get(name, [])) for name, triples in named.items()]
    return [Member(default), *found] if default or not named else found


def _named(name: Resource, triples: list[Triple], about: list[Triple]) -> Member:
    """Return the event of a named graph. What is said about it from outside does not change its home."""
    home = find_home(triples) if about else None
    return Member([*triples, *about], name.value if isinstance(name, NamedNode) else None, home)
