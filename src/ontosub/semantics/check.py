"""What is doubtful about an ontology, or about the words of a subscription."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ontosub.model import Diagnostic, MetaStatement, Ontology, Severity, Span, Subscription
from ontosub.model.ontology import Pair
from ontosub.model.terms import OWL, RDF, RDFS, TYPE, XSD, Literal, NamedNode, Term, Variable, datatype_closure
from ontosub.semantics.event_graph import IMPLIED_CLASSES
from ontosub.semantics.hierarchy import Hierarchy


def check_ontology(ontology: Ontology) -> list[Diagnostic]:
    """List cycles, undeclared terms, missing imports, and properties used outside their meta-statements."""
    words = Words(ontology)
    return [
        *_cycles("classes", ontology.subclasses, ontology.equivalences),
        *_cycles("properties", ontology.subproperties, ontology.equivalences),
        *_undeclared("class", words.classes - ontology.classes),
        *_undeclared("property", words.properties - ontology.properties),
        *_imports(ontology),
        *_Usage(ontology).findings(),
    ]


class Words:
    """The classes and properties that an ontology knows: declared ones, and those that its statements use."""

    def __init__(self, ontology: Ontology) -> None:
        meta = ontology.meta_statements
        facts = ontology.background
        self.classes = frozenset(
            {
                *ontology.classes,
                *(class_ for pair in ontology.subclasses for class_ in pair),
                *(class_ for _, class_ in ontology.domains | ontology.ranges),
                *(class_ for statement in meta for class_ in (statement.subject_class, statement.object_class)),
                *(t.object for t in facts if t.predicate == TYPE and isinstance(t.object, NamedNode)),
            }
        )
        self.properties = frozenset(
            {
                *ontology.properties,
                *(property_ for pair in ontology.subproperties | ontology.inverses for property_ in pair),
                *ontology.symmetric,
                *ontology.transitive,
                *(property_ for property_, _ in ontology.domains | ontology.ranges),
                *(statement.property for statement in meta),
                *(triple.predicate for triple in facts),
            }
        )

    def unknown(self, subscription: Subscription) -> list[Diagnostic]:
        """List the classes and properties that a subscription asks for and the ontology does not know.

        An unknown class is a warning; an unknown property only a note, because ontologies seldom list them all. An
        ontology without a single class (or property) does not say which ones there are: nothing is listed then.
        """
        findings: dict[Diagnostic, None] = {}
        for pattern in subscription.patterns:
            for vertex in pattern.vertices if self.classes else ():
                for class_ in vertex.classes:
                    if class_ not in self.classes and not _is_built_in(class_):
                        findings[_unknown("class", Severity.WARNING, class_, subscription, vertex.span)] = None
            for arc in pattern.arcs if self.properties else ():
                property_ = arc.property
                if isinstance(property_, Variable) or property_ in self.properties or _is_built_in(property_):
                    continue
                findings[_unknown("property", Severity.NOTE, property_, subscription, arc.span)] = None
        return list(findings)


def _unknown(
    kind: str, severity: Severity, term: NamedNode, subscription: Subscription, span: Span | None
) -> Diagnostic:
    return Diagnostic(
        f"unknown {kind} {term}",
        severity,
        f"The ontology knows no such {kind}; only events that use this very IRI can match.",
        subscription.text,
        span,
        subscription.id,
    )


def _is_built_in(term: NamedNode) -> bool:
    return term in IMPLIED_CLASSES or term.value.startswith((RDF, RDFS, OWL, XSD))


def _cycles(kind: str, pairs: Iterable[Pair], equivalences: frozenset[Pair]) -> Iterator[Diagnostic]:
    """Yield the cycles that are not simply equivalences, said as such."""
    said = Hierarchy([*equivalences, *((second, first) for first, second in equivalences)])
    for cycle in Hierarchy(pairs).cycles():
        if cycle <= said.above(min(cycle, key=str)):
            continue
        names = ", ".join(sorted(str(term) for term in cycle))
        yield Diagnostic(
            f"these {kind} contain each other: {names}",
            Severity.WARNING,
            "They are taken as equivalent; say so with an equivalence, or remove one of the inclusions.",
        )


def _undeclared(kind: str, terms: Iterable[NamedNode]) -> Iterator[Diagnostic]:
    article = "owl:Class" if kind == "class" else "rdf:Property"
    for term in sorted(terms, key=str):
        if not _is_built_in(term):
            yield Diagnostic(
                f"the {kind} {term} is used but not declared", Severity.NOTE, f"Declare it: {term} a {article} ."
            )


def _imports(ontology: Ontology) -> Iterator[Diagnostic]:
    for iri in sorted(ontology.missing_imports):
        yield Diagnostic(
            f"the import <{iri}> is not among the given sources",
            Severity.WARNING,
            "Give its file as well; nothing is ever fetched.",
        )


class _Usage:
    """Facts and restrictions held against the meta-statements.

    Only stated types count: an entailed type would follow from the very domain or range that is being checked.
    """

    def __init__(self, ontology: Ontology) -> None:
        self._ontology = ontology
        self._classes = Hierarchy(ontology.subclasses)
        self._properties = Hierarchy(ontology.subproperties)
        self._allowed: dict[NamedNode, list[MetaStatement]] = {}
        for statement in ontology.meta_statements:
            self._allowed.setdefault(statement.property, []).append(statement)
        self._types: dict[Term, set[NamedNode]] = {}
        for triple in ontology.background:
            if triple.predicate == TYPE and isinstance(triple.object, NamedNode):
                self._types.setdefault(triple.subject, set()).add(triple.object)

    def findings(self) -> Iterator[Diagnostic]:
        for triple in sorted(self._ontology.background, key=str):
            subject, object_ = self._stated(triple.subject), self._stated(triple.object)
            if subject and object_ and not self._fits(subject, triple.predicate, object_):
                yield Diagnostic(
                    f"{triple} uses {triple.predicate} outside its meta-statements",
                    Severity.WARNING,
                    f"Allowed: {self._shown(triple.predicate)}.",
                )

    def _stated(self, term: Term) -> frozenset[NamedNode]:
        """Return the classes that the term is said to have, and all above them; nothing for an untyped resource."""
        given = datatype_closure(term.datatype) if isinstance(term, Literal) else self._types.get(term, frozenset())
        return frozenset(wider for class_ in given for wider in self._classes.above(class_))

    def _fits(self, subject: frozenset[NamedNode], property_: NamedNode, object_: frozenset[NamedNode]) -> bool:
        statements = list(self._statements(property_))
        return not statements or any(
            _is_among(statement.subject_class, subject) and _is_among(statement.object_class, object_)
            for statement in statements
        )

    def _statements(self, property_: NamedNode) -> Iterator[MetaStatement]:
        for wider in self._properties.above(property_):
            yield from self._allowed.get(wider, ())

    def _shown(self, property_: NamedNode) -> str:
        return "; ".join(
            sorted(f"({s.subject_class}, {s.property}, {s.object_class})" for s in self._statements(property_))
        )


def _is_among(asked: NamedNode, classes: frozenset[NamedNode]) -> bool:
    return asked in classes or asked == OWL["Thing"]
