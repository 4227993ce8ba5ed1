"""XML trees: read whole, addressed by simple paths, and lifted to RDF.

Lifting follows OPS in treating maps, trees and graphs alike: an element is a property of the element around it. One
that holds only text is a literal; any other is a blank node, with its attributes as properties and its own text, if
any, as rdf:value. The outermost element is the home vertex `_:H`, and its name is the home's class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ontosub.formats import xml_guard
from ontosub.formats.limits import Limits
from ontosub.formats.reading import Member
from ontosub.formats.source import Source
from ontosub.model.errors import FormatError, Span, UsageError
from ontosub.model.terms import HOME, RDF, TYPE, BlankNode, Literal, NamedNode, Resource, Triple

XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"
_VALUE = RDF["value"]


@dataclass(slots=True)
class Element:
    """An XML element. Names are (namespace, local name); the namespace may be empty."""

    name: tuple[str, str]
    attributes: dict[tuple[str, str], str]
    where: Span
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text directly inside, without white space around it."""
        return "".join(self.pieces).strip()


def read_tree(source: Source, limits: Limits) -> Element:
    """Read an XML document and return its outermost element. Raises LimitError as soon as a bound is exceeded."""
    document = Element(("", ""), {}, Span(1, 1, 1, 1))
    open_elements = [document]
    census = _Census(limits)

    def start(name: str, attributes: dict[str, str], where: Span) -> None:
        census.count(name, attributes)
        element = Element(_split(name), {_split(key): value for key, value in attributes.items()}, where)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def end() -> None:
        limits.check("literal_chars", len(open_elements.pop().text), "the text of an element has {} characters")

    xml_guard.parse(source, limits, start, lambda text: open_elements[-1].pieces.append(text), end)
    return document.children[0]


class _Census:
    """Counts what the names and attributes of a document amount to."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.size = 0
        self.characters = 0

    def count(self, name: str, attributes: Mapping[str, str]) -> None:
        self.size += 1 + len(attributes)
        self.limits.check("triples", self.size, "the document has {} elements and attributes or more")
        self.characters += len(name)
        for key, value in attributes.items():
            self.limits.check("literal_chars", len(value), "an attribute has {} characters")
            self.characters += len(key) + len(value)
        self.limits.check("term_chars", self.characters, "the names and attributes have {} characters together")


def _split(name: str) -> tuple[str, str]:
    namespace, _, local = name.rpartition(" ")
    return namespace, local


@dataclass(frozen=True, slots=True)
class ElementRecord:
    """An element that a mapping reads: paths are steps parted by `/`; the last may be `@attribute` or `.`.

    A step without prefix means the local name, in any namespace.
    """

    element: Element
    source: Source
    prefixes: Mapping[str, str]

    def values(self, path: str) -> list[str]:
        steps = path.split("/")
        if steps[-1].startswith("@"):
            wanted = steps[-1][1:]
            owners = self._select(steps[:-1])
            return [text for owner in owners for key, text in owner.attributes.items() if self._is(key, wanted)]
        return [element.text for element in self._select(steps) if element.text]

    def nodes(self, path: str) -> list[ElementRecord]:
        return [ElementRecord(element, self.source, self.prefixes) for element in self._select(path.split("/"))]

    def fault(
        self, message: str, path: str | None = None, *, value: str | None = None, hint: str | None = None
    ) -> FormatError:
        """Return the error at the element at `path`, of several at the one that has the value; else at its own."""
        steps = [step for step in (path or "").split("/") if not step.startswith("@")]
        found = self._select(steps) or [self.element]
        meant = (element for element in found if value in (element.text, *element.attributes.values()))
        return self.source.fault_in(message, next(meant, found[0]).where, hint=hint)

    def _select(self, steps: list[str]) -> list[Element]:
        selected = [self.element]
        for step in steps:
            if step not in (".", ""):
                selected = [child for each in selected for child in each.children if self._is(child.name, step)]
        return selected

    def _is(self, name: tuple[str, str], step: str) -> bool:
        prefix, colon, local = step.rpartition(":")
        if not colon:
            return name[1] == step
        if prefix == "xml":
            return name == (XML_NAMESPACE, local)
        if prefix not in self.prefixes:
            raise UsageError(f"the mapping uses the prefix {prefix!r} in {step!r} without declaring it")
        return name == (self.prefixes[prefix], local)


def records_of(root: Element, path: str | None, source: Source, prefixes: Mapping[str, str]) -> list[ElementRecord]:
    """Return the elements at an absolute path such as `/orders/order`; without a path, the outermost element."""
    if path is None:
        return [ElementRecord(root, source, prefixes)]
    document = Element(("", ""), {}, root.where, [root])
    return ElementRecord(document, source, prefixes).nodes(path.removeprefix("/"))


def lift(root: Element, vocab: str | None, source: Source) -> Member:
    """Return the RDF of a whole tree. Names without a namespace are in `vocab`."""
    return Member(list(_Lifter(vocab, source).lift(root)), home=HOME)


class _Lifter:
    """Walks a tree and makes its triples, in document order."""

    def __init__(self, vocab: str | None, source: Source) -> None:
        self.vocab = vocab
        self.source = source
        self.blank = 0

    def lift(self, root: Element) -> Iterator[Triple]:
        yield Triple(HOME, TYPE, self._name(root.name, root))
        yield from self._inside(root, HOME, None)

    def _inside(self, element: Element, subject: Resource, language: str | None) -> Iterator[Triple]:
        language = element.attributes.get((XML_NAMESPACE, "lang"), language)
        for name, value in element.attributes.items():
            if name[0] != XML_NAMESPACE:
                yield Triple(subject, self._name((name[0] or element.name[0], name[1]), element), Literal(value))
        if element.text:
            yield Triple(subject, _VALUE, self._literal(element, language))
        for child in element.children:
            yield from self._child(child, subject, language)

    def _child(self, child: Element, parent: Resource, language: str | None) -> Iterator[Triple]:
        arc = self._name(child.name, child)
        if not child.children and all(name[0] == XML_NAMESPACE for name in child.attributes):
            yield Triple(parent, arc, self._literal(child, language))
            return
        node = BlankNode(f"b{self.blank}")
        self.blank += 1
        yield Triple(parent, arc, node)
        yield from self._inside(child, node, language)

    def _literal(self, element: Element, language: str | None) -> Literal:
        language = element.attributes.get((XML_NAMESPACE, "lang"), language) or None
        try:
            return Literal(element.text, language=language)
        except ValueError as error:
            raise self.source.fault_in(f"xml:lang {language!r} is no language tag: {error}", element.where) from None

    def _name(self, name: tuple[str, str], element: Element) -> NamedNode:
        namespace, local = name
        if not namespace and self.vocab is None:
            raise self.source.fault_in(
                f"the name {local} is in no namespace",
                element.where,
                hint='Give vocab="http://example.org/" for such names, or a mapping= for the document.',
            )
        namespace = namespace or self.vocab or ""
        try:
            return NamedNode(namespace + ("" if namespace.endswith(("#", "/", ":")) else "#") + local)
        except ValueError as error:
            raise self.source.fault_in(f"the name {local} makes no IRI: {error}", element.where) from None
