"""RDF lists and properties of small graphs: what is needed to write a tree of values as RDF, and to read it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import TypeVar

from ontosub.model.errors import FormatError, LimitError
from ontosub.model.terms import RDF, XSD, BlankNode, Literal, NamedNode, Namespace, Resource, Term, Triple

COMPOSITE = Namespace("urn:ontosub:composite#")
"""The vocabulary of composite events and subscriptions: composite.ttl beside this module."""
MEMBERS_MAX = 20_000
CELLS_MAX = 1_000_000
"""How many cells of lists may be looked at in one graph: many vertices may have the same long list."""

_T = TypeVar("_T")


class Writing:
    """A graph that is being written."""

    def __init__(self) -> None:
        self.triples: set[Triple] = set()

    def node(self, kind: str) -> BlankNode:
        """Return a new vertex of a class of the vocabulary."""
        node = BlankNode(f"n{len(self.triples)}")
        self.triples.add(Triple(node, RDF["type"], COMPOSITE[kind]))
        return node

    def say(self, subject: Resource, name: str, value: Term | str | int | None) -> None:
        """State a property of a vertex; None states nothing."""
        if value is not None:
            term = Literal(value) if isinstance(value, str | int) else value
            self.triples.add(Triple(subject, COMPOSITE[name], term))

    def say_list(self, subject: Resource, name: str, values: Iterable[Term]) -> None:
        """State a property whose value is a list."""
        rest: Resource = RDF["nil"]
        for number, value in enumerate(reversed(list(values))):
            cell = BlankNode(f"l{len(self.triples)}x{number}")
            self.triples |= {Triple(cell, RDF["first"], value), Triple(cell, RDF["rest"], rest)}
            rest = cell
        self.triples.add(Triple(subject, COMPOSITE[name], rest))


class Reading:
    """A graph that is being read. What is missing or wrong is a FormatError that names the vertex."""

    def __init__(self, graph: Iterable[Triple]) -> None:
        self.visited = 0
        self._cells = 0
        self._values: dict[tuple[Term, NamedNode], list[Term]] = {}
        self._properties: dict[Term, set[str]] = {}
        self.subjects: dict[Term, set[Term]] = {}
        for triple in dict.fromkeys(graph):
            if triple.predicate.value.startswith(COMPOSITE):
                name = triple.predicate.value.removeprefix(COMPOSITE)
                self._properties.setdefault(triple.subject, set()).add(name)
            self._values.setdefault((triple.subject, triple.predicate), []).append(triple.object)
            if triple.predicate == RDF["type"]:
                self.subjects.setdefault(triple.object, set()).add(triple.subject)

    def visit(self, node: Term, depth: int, nodes_max: int, depth_max: int) -> None:
        """Count a vertex of a tree. A small graph may be a very large tree: vertices of it can stand in many places."""
        self.visited += 1
        if self.visited > nodes_max or depth > depth_max:
            raise LimitError(f"{node}: the tree is too large: at most {nodes_max:,} vertices, {depth_max} deep")

    def kind(self, node: Term) -> str:
        """Return the class of the vocabulary that a vertex has."""
        kinds = [term.value for term in self._values.get((node, RDF["type"]), []) if isinstance(term, NamedNode)]
        ours = sorted(iri.removeprefix(COMPOSITE) for iri in kinds if iri.startswith(COMPOSITE))
        if len(ours) != 1:
            raise self.fault(node, f"has {len(ours)} classes of the vocabulary", "Give it exactly one.")
        return ours[0]

    def check_properties(self, node: Term, kind: str, known: Set[str]) -> None:
        """Refuse a property of the vocabulary that does not belong to a vertex of this kind: it would mean nothing."""
        for name in sorted(self._properties.get(node, set()) - known):
            hint = f"A {kind} may have {', '.join(sorted(known))}."
            raise self.fault(node, f"has a {name}, which does not belong to a {kind}", hint)

    def value(self, node: Term, name: str) -> Term | None:
        """Return the value of a property, None when there is none."""
        found = self._values.get((node, COMPOSITE[name]), [])
        if len(found) > 1:
            raise self.fault(node, f"has {len(found)} values of {name}", "Give it one.")
        return found[0] if found else None

    def needed(self, node: Term, name: str) -> Term:
        """Return the value of a property that must be there."""
        found = self.value(node, name)
        if found is None:
            raise self.fault(node, f"has no {name}", f"State it: <{COMPOSITE}{name}>.")
        return found

    def text(self, node: Term, name: str) -> str:
        """Return the text of a property that must be there."""
        found = self.needed(node, name)
        if not isinstance(found, Literal):
            raise self.fault(node, f"has a {name} that is no literal", "Write it as a literal.")
        return found.value

    def items(self, node: Term, name: str) -> list[Term]:
        """Return the members of a list; no list is an empty one."""
        cell, found = self.value(node, name), list[Term]()
        while cell is not None and cell != RDF["nil"]:
            first = self._values.get((cell, RDF["first"]), [])
            rest = self._values.get((cell, RDF["rest"]), [])
            if len(first) != 1 or len(rest) != 1 or len(found) > MEMBERS_MAX:
                raise self.fault(node, f"has a broken list of {name}", "Each cell has one rdf:first and one rdf:rest.")
            self._cells += 1
            if self._cells > CELLS_MAX:
                raise LimitError(
                    f"{node}: the lists of the graph are too long: at most {CELLS_MAX:,} cells are looked at"
                )
            found.append(first[0])
            cell = rest[0]
        return found

    def texts(self, node: Term, name: str) -> tuple[str, ...]:
        """Return the members of a list of literals."""
        found = self.items(node, name)
        if not all(isinstance(term, Literal) for term in found):
            raise self.fault(node, f"has a list of {name} with something that is no literal", "Write literals.")
        return tuple(term.value for term in found if isinstance(term, Literal))

    def fault(self, node: Term, message: str, hint: str) -> FormatError:
        """Return the error that says what is wrong with a vertex."""
        return FormatError(f"{node} {message}", hint=hint)

    def make(self, node: Term, maker: Callable[..., _T], *arguments: object) -> _T:
        """Return what `maker` makes; what it refuses is wrong with the vertex."""
        try:
            return maker(*arguments)
        except ValueError as error:
            raise self.fault(node, f"makes no sense: {error}", "Look at docs/COMPOSITE.md.") from None


DURATION = XSD["dayTimeDuration"]
