"""From the template of a CONSTRUCT query to the triples that each answer makes."""

from __future__ import annotations

from ontosub.languages.sparql.syntax import Construct, Occurrence, Path, Query, TripleTerm
from ontosub.model.errors import Span
from ontosub.model.pattern import TemplateTriple
from ontosub.model.terms import NamedNode, PatternTerm, Variable


def template_of(query: Query) -> tuple[TemplateTriple, ...]:
    """Return what a CONSTRUCT makes of each answer; nothing for any other query."""
    if not isinstance(query, Construct):
        return ()
    return tuple([_triple(each.subject, each.verb, each.object, each.span) for each in query.template])


def _triple(subject: Occurrence, verb: Path, object_: Occurrence, span: Span | None) -> TemplateTriple:
    assert isinstance(verb, Occurrence)  # noqa: S101 - the reader refuses paths in templates
    assert isinstance(verb.term, NamedNode | Variable)  # noqa: S101 - what the grammar says
    assert not isinstance(subject.term, TripleTerm)  # noqa: S101 - the reader refuses values as subjects
    return TemplateTriple(subject.term, verb.term, _made(object_), span)


def _made(object_: Occurrence) -> PatternTerm | TemplateTriple:
    term = object_.term
    return _triple(term.subject, term.predicate, term.object, None) if isinstance(term, TripleTerm) else term
