"""XML read safely: nothing external, entities bounded, nesting bounded, faults with line and column.

A small DTD that only abbreviates namespaces (`<!ENTITY xsd "http://…">`) is common in OWL files and welcome. An
entity bomb is a LimitError; anything that would have to be fetched is a FormatError.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from xml.parsers import expat

from ontosub.formats.limits import Limits
from ontosub.formats.source import Source
from ontosub.model.errors import FormatError, LimitError, Span

_REFERENCE = re.compile(r"&([^;#&\s<]+);")
_PREDEFINED = {"amp": 1, "lt": 1, "gt": 1, "quot": 1, "apos": 1}
_NAMESPACE_MAX = 1_000
"""The longest namespace, in characters: it is spelled out again for every name in it."""
_NAMESPACES_MAX = 1_000
"""How many prefixes may be declared at a time: the parser of RDF/XML goes through them for every name."""
_ATTRIBUTES_MAX = 1_000
"""How many attributes an element may have: the parser of RDF/XML compares each with all others."""
_NOTHING_FETCHED = "Write the document without it; nothing is fetched from anywhere."

Start = Callable[[str, dict[str, str], Span], None]
Text = Callable[[str], None]
End = Callable[[], None]


def parse(
    source: Source, limits: Limits, start: Start | None = None, text: Text | None = None, end: End | None = None
) -> None:
    """Read a document, calling `start(name, attributes, where)`, `text(characters)` and `end()` as its tree unfolds.

    Names are `namespace name`, or the name alone when it is in no namespace. Raises FormatError when the document is
    malformed or refers to something outside of it, LimitError when it is too deep or expands to too much.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    _forbid_unbounded(parser, source, limits)
    depth = 0

    def opened(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        limits.check("depth", depth, "elements are nested {} deep")
        _check_fixed(len(attributes), _ATTRIBUTES_MAX, "an element has {} attributes")
        if start is not None:
            start(name, attributes, _here(parser))

    def closed(_name: str) -> None:
        nonlocal depth
        depth -= 1
        if end is not None:
            end()

    parser.StartElementHandler = opened
    parser.EndElementHandler = closed
    if text is not None:
        parser.CharacterDataHandler = text
        parser.buffer_text = True
    try:
        parser.Parse(source.text, True)
    except expat.ExpatError as error:
        message, _, _ = str(error).partition(": line")
        at = Span(error.lineno, error.offset + 1, error.lineno, error.offset + 2)
        raise source.fault_in(message, at, hint=_hint(message)) from None


def _check_fixed(amount: int, allowed: int, what: str) -> None:
    if amount > allowed:
        raise LimitError(f"{what.format(f'{amount:,}')}: the limit is {allowed:,}")


def _hint(message: str) -> str | None:
    if "no element found" in message:
        return "Send a complete document: one element that is closed."
    if "prefix" in message:
        return 'Declare the prefix, for example: xmlns:ex="http://example.org/".'
    if "undefined entity" in message:
        return "Write the character itself, or declare the entity."
    return None


def _here(parser: Any) -> Span:
    line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
    return Span(line, column, line, column + 1)


def _forbid_unbounded(parser: Any, source: Source, limits: Limits) -> None:
    """Refuse what would be fetched, and stop as soon as the declared entities could expand to too much."""
    sizes = dict(_PREDEFINED)

    def fault(message: str, entity: str | None = None) -> FormatError:
        declaration = re.search(rf"<!ENTITY\s+(?:%\s+)?{re.escape(entity)}\s", source.text) if entity else None
        if declaration:
            return source.fault(message, *declaration.span(), hint=_NOTHING_FETCHED)
        return source.fault_in(message, _here(parser), hint=_NOTHING_FETCHED)

    def declared(
        name: str, is_parameter: bool, value: str | None, _base: Any, system: str | None, public: str | None, _n: Any
    ) -> None:
        if value is None or system or public:
            raise fault(f"the entity {name} lies outside of the document", name)
        if is_parameter:
            raise fault(f"the entity {name} is a parameter entity", name)
        used = _REFERENCE.findall(value)
        if unknown := [inner for inner in used if inner not in sizes]:
            raise fault(f"the entity {name} uses {unknown[0]}, which is not declared before it", name)
        sizes.setdefault(name, len(value) + sum(sizes[inner] for inner in used))
        limits.check("entity_chars", sizes[name], f"the entity {name} expands to {{}} characters")

    def ended() -> None:
        total = sum(sizes.get(name, 0) for name in _REFERENCE.findall(source.text))
        limits.check("entity_chars", total, "the entities of the document expand to {} characters")

    def defaulted(element: str, attribute: str, _type: str, default: str | None, _required: bool) -> None:
        if default is not None:
            raise fault(f"the document type gives the attribute {attribute} of {element} a default")

    def skipped(name: str, _is_parameter: bool) -> None:
        raise fault(f"the entity {name} is not declared in the document")

    declared_prefixes = 0

    def bound(_prefix: str | None, namespace: str | None) -> None:
        nonlocal declared_prefixes
        declared_prefixes += 1
        _check_fixed(declared_prefixes, _NAMESPACES_MAX, "{} prefixes are declared at a time")
        _check_fixed(len(namespace or ""), _NAMESPACE_MAX, "a namespace has {} characters")

    def unbound(_prefix: str | None) -> None:
        nonlocal declared_prefixes
        declared_prefixes -= 1

    parser.StartNamespaceDeclHandler = bound
    parser.EndNamespaceDeclHandler = unbound
    parser.EntityDeclHandler = declared
    parser.EndDoctypeDeclHandler = ended
    parser.AttlistDeclHandler = defaulted
    parser.SkippedEntityHandler = skipped
