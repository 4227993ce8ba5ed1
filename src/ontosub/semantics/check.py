"""What is doubtful about an ontology, or about the words of a subscription."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from ontosub.languages.sparql.words import Word, words_of_residual
from ontosub.model import Diagnostic, MetaStatement, Ontology, Severity, Span, Subscription
from ontosub.model.ontology import Pair
from ontosub.model.terms import (
    OWL,
    RDF,
    RDFS,
    TOP_CLASSES,
    TYPE,
    XSD,
    Literal,
    NamedNode,
    Term,
    Triple,
    Variable,
    datatype_closure,
)
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
        self._known_forms: set[str] = set()

    def unknown(self, subscription: Subscription) -> list[Diagnostic]:
        """List the classes and properties that a subscription asks for and the ontology does not know.

        An unknown class is a warning; an unknown property only a note, because ontologies seldom list them all. An
        ontology without a single class (or property) does not say which ones there are: nothing is listed then.
        """
        findings: dict[Diagnostic, None] = {}
        if not (self.classes or self.properties) or self._is_known_form(subscription.residual):
            return []
        for word in words_of_residual(subscription) if subscription.residual else _words_of_patterns(subscription):
            known, kind, severity = (
                (self.classes, "class", Severity.WARNING)
                if word.is_class
                else (self.properties, "property", Severity.NOTE)
            )
            if known and word.term not in known and not _is_built_in(word.term):
                findings[_unknown(kind, severity, word.term, subscription, word.span)] = None
        if subscription.residual and not findings and len(self._known_forms) < _FORMS_MAX:
            self._known_forms.add(self._form(subscription.residual))
        return list(findings)

    def _is_known_form(self, residual: str | None) -> bool:
        """Say whether the residual differs from one without unknown words only in constants and in known words."""
        return residual is not None and bool(self._known_forms) and self._form(residual) in self._known_forms

    def _form(self, residual: str) -> str:
        """Return the text with words that the ontology knows, and constants, replaced by what they are."""
        return _CONSTANT.sub(self._sort, residual)

    def _sort(self, found: re.Match[str]) -> str:
        text = found.group()
        if not text.startswith("<"):
            return "0"
        term = NamedNode(text[1:-1])
        return text if _is_built_in(term) else f"<{term in self.classes:d}{term in self.properties:d}>"


_FORMS_MAX = 10_000
_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|<[^<>"{}|^`\\\s]*>|\b[0-9]+(?:\.[0-9]+)?\b')
"""Strings, IRIs and numbers, as a residual is printed."""


def _words_of_patterns(subscription: Subscription) -> Iterator[Word]:
    for pattern in subscription.patterns:
        for vertex in pattern.vertices:
            yield from (Word(class_, True, vertex.span) for class_ in vertex.classes)
        for arc in pattern.arcs:
            if not isinstance(arc.property, Variable):
                yield Word(arc.property, False, arc.span)


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
            if not self._fits(triple):
                yield Diagnostic(
                    f"{triple} uses {triple.predicate} outside its meta-statements",
                    Severity.WARNING,
                    f"Allowed: {self._shown(triple.predicate)}.",
                )

    def _fits(self, triple: Triple) -> bool:
        """Say whether a meta-statement allows the fact; of a fact that none speaks of, or with an untyped end, yes."""
        statements = list(self._statements(triple.predicate))
        subject, object_ = self._stated(triple.subject), self._stated(triple.object)
        if not (statements and subject and object_):
            return True
        return any(
            self._is(subject, each.subject_class) and self._is(object_, each.object_class) for each in statements
        )

    def _stated(self, term: Term) -> Collection[NamedNode]:
        """Return the classes that the term is said to have; nothing for an untyped resource."""
        return datatype_closure(term.datatype) if isinstance(term, Literal) else self._types.get(term, ())

    def _is(self, stated: Collection[NamedNode], asked: NamedNode) -> bool:
        return asked in TOP_CLASSES or any(self._classes.is_below(class_, asked) for class_ in stated)

    def _statements(self, property_: NamedNode) -> Iterator[MetaStatement]:
        for wider in self._properties.above(property_):
            yield from self._allowed.get(wider, ())

    def _shown(self, property_: NamedNode) -> str:
        return "; ".join(
            sorted(f"({s.subject_class}, {s.property}, {s.object_class})" for s in self._statements(property_))
        )
