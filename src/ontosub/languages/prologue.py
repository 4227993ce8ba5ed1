"""What the names in a text stand for: declared prefixes, and a base for relative IRIs.

A `Prologue` knows nothing of positions. What it cannot name it reports as a `Fault`; whoever holds the token makes a
positioned error of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ontosub.model.terms import DAML, OWL, RDF, RDFS, XSD, NamedNode

WELL_KNOWN: Mapping[str, str] = {"rdf": RDF, "rdfs": RDFS, "xsd": XSD, "owl": OWL, "daml": DAML}
"""The prefixes that OPS knows without being told."""


class Fault(ValueError):
    """A term that cannot be made of what was written: what is wrong with it, and what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Prologue:
    """The prefixes and the base that hold for a text; its own declarations are added while it is read."""

    __slots__ = ("base", "prefixes")

    def __init__(self, prefixes: Mapping[str, str] | None = None, base: str | None = None) -> None:
        self.prefixes = dict(prefixes or {})
        self.base = base

    def declare_prefix(self, prefix: str, written: str) -> None:
        """Let `prefix` stand for an IRI that is written as in the text, perhaps relative."""
        self.prefixes[prefix] = self.absolute(written)

    def declare_base(self, written: str) -> None:
        """Let relative IRIs be resolved against this one from now on."""
        self.base = self.absolute(written)

    def absolute(self, written: str) -> str:
        """Return the IRI in full, without validating it."""
        reference = decode_codepoints(written)
        if _SCHEME.match(reference):
            return reference
        if self.base is None:
            hint = "Write it in full, or declare what it is relative to, for example: BASE <http://example.org/>."
            raise Fault(f"the IRI <{shown(reference)}> is relative and there is no base", hint)
        return resolve(self.base, reference)

    def iri(self, written: str) -> NamedNode:
        """Return the resource that `<written>` stands for."""
        return named_node(self.absolute(written))

    def expand(self, name: str) -> NamedNode:
        """Return the resource that a prefixed name stands for."""
        prefix, _, local = name.partition(":")
        namespace = self.prefixes.get(prefix)
        if namespace is None:
            hint = f"Declare it, for example: PREFIX {prefix}: <http://example.org/{prefix or 'terms'}#>."
            raise Fault(f'prefix "{shown(prefix)}" is not declared', hint)
        return named_node(namespace + (_LOCAL_ESCAPE.sub(r"\1", local) if "\\" in local else local))


def shown(text: str) -> str:
    """Return the text, cut to what fits into a message."""
    return text if len(text) <= 40 else f"{text[:40]}…"


def named_node(iri: str) -> NamedNode:
    """Return the resource, if its IRI is well formed."""
    try:
        return NamedNode(iri)
    except ValueError as error:
        hint = "An IRI starts with a scheme and a colon, and holds no spaces, quotes, braces or backslashes."
        raise Fault(f"malformed IRI: {str(error).lower()}", hint) from None


def decode_codepoints(written: str) -> str:
    r"""Return the text with its \uXXXX and \UXXXXXXXX escapes replaced by the characters that they stand for."""
    return _CODEPOINT.sub(_character, written) if "\\" in written else written


def _character(match: re.Match[str]) -> str:
    code = int(match[1] or match[2], 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise Fault(f"{match[0]} is no character", "Unicode ends at 10FFFF, and D800 to DFFF are reserved.")
    return chr(code)


_CODEPOINT = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
_LOCAL_ESCAPE = re.compile(r"\\(.)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


def resolve(base: str, reference: str) -> str:
    """Return what a relative reference stands for (RFC 3986, section 5.2).

    >>> resolve("http://example.org/a/b", "../c#d")
    'http://example.org/c#d'
    """
    scheme, authority, path, query, _ = _split(base)
    _, own_authority, own_path, own_query, fragment = _split(reference)
    if own_authority is not None:
        authority, path, query = own_authority, _without_dots(own_path), own_query
    elif own_path.startswith("/"):
        path, query = _without_dots(own_path), own_query
    elif own_path:
        directory = path[: path.rfind("/") + 1] or ("/" if authority is not None else "")
        path, query = _without_dots(directory + own_path), own_query
    elif own_query is not None:
        query = own_query
    parts = [f"{scheme}:"] if scheme is not None else []
    parts += [f"//{authority}"] if authority is not None else []
    parts += [path]
    parts += [f"?{query}"] if query is not None else []
    parts += [f"#{fragment}"] if fragment is not None else []
    return "".join(parts)


def _split(iri: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    match = _PARTS.fullmatch(iri)
    assert match is not None  # noqa: S101 - every part is optional and the last one takes all
    return match[1], match[2], match[3], match[4], match[5]


def _without_dots(path: str) -> str:
    """Return the path with `.` and `..` carried out (RFC 3986, section 5.2.4)."""
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            if len(kept) > 1 or (kept and kept[0]):
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)
