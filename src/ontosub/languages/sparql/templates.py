"""What becomes of a query, with a slot for each constant that a similar query may have in its place.

Texts that differ only in constants have the same parse tree. Reading one of them with slots instead of constants
gives a template; each of the others is then made by filling in its own. Constants that shape the tree are no slots:
declarations, datatypes, names of functions, counts of answers.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from lark import Token
from lark.tree import Meta

from ontosub.languages.prologue import Prologue
from ontosub.languages.sparql import literals, regex
from ontosub.languages.sparql.alternatives import Conjunction
from ontosub.languages.sparql.core import LANGUAGE, Compiled, compile_query
from ontosub.languages.sparql.expressions_reader import regex_constants
from ontosub.languages.sparql.graph_patterns import graph_pattern
from ontosub.languages.sparql.parser import labels_of, read_query
from ontosub.languages.sparql.query_reader import QueryReader
from ontosub.languages.sparql.source import Source, line_starts
from ontosub.languages.sparql.syntax import Builtin, Occurrence
from ontosub.languages.sparql.tokens import TEXT_MAX, place
from ontosub.model.errors import Span
from ontosub.model.expression import Call
from ontosub.model.pattern import Filter, GraphPattern, TemplateTriple
from ontosub.model.subscription import Subscription
from ontosub.model.terms import Literal, NamedNode, Triple, Variable

CONSTANTS = frozenset({"IRIREF", "PNAME", "NUMBER", "SIGNED", "STRING"})
"""The tokens that may become slots."""

MARK = "ontosub-slot-"
"""What the terms that stand for slots are called; a text that uses the word itself gets no template."""

_PRINTED = re.compile(rf'<urn:{MARK}(\d+)>|"{MARK}(\d+)"')

Maker: TypeAlias = Callable[[str], NamedNode | Literal]
Recipe: TypeAlias = Any
"""How to make something: an int is a slot, a tuple is a function with arguments and a span, a `_Composite` is a triple
with slots inside, else it is as it is."""


@dataclass(frozen=True, slots=True)
class _Composite:
    """How to make a triple inside a term or a template."""

    make: Callable[..., Any]
    parts: tuple[Recipe, Recipe, Recipe]


class Layout:
    """Where the tokens of a text are. The spans of a template count tokens; here they become positions."""

    __slots__ = ("_lines", "_matches")

    def __init__(self, text: str, matches: Sequence[re.Match[str]]) -> None:
        self._lines = line_starts(text)
        self._matches = matches

    def span(self, tokens: Span | None) -> Span | None:
        """Return the position from a first to a last token."""
        if tokens is None:
            return None
        lines = self._lines
        first = self._matches[tokens.line]
        start = first.start(first.lastgroup or 0)
        end = self._matches[tokens.end_line].end()
        line, end_line = bisect_right(lines, start), bisect_right(lines, end)
        return Span(line, start - lines[line - 1] + 1, end_line, end - lines[end_line - 1] + 1)

    def first_mentions(self, mentions: Iterable[tuple[Recipe, Span | None]], terms: dict[int, Any]) -> dict[Any, Any]:
        """Return where each term is mentioned first."""
        where: dict[Any, Any] = {}
        for recipe, span in mentions:
            term = _term(recipe, terms)
            if term not in where:
                where[term] = self.span(span)
        return where


@dataclass(frozen=True, slots=True)
class PatternTemplate:
    """One of the patterns of a query with slots."""

    triples: tuple[tuple[Recipe, Recipe, Recipe], ...]
    spans: tuple[Span | None, ...]
    mentions: tuple[tuple[Recipe, Span | None], ...]
    filters: tuple[tuple[Recipe, Span | None], ...]
    projection: tuple[Variable, ...]

    def fill(self, terms: dict[int, Any], layout: Layout) -> GraphPattern:
        """Return the pattern that has these terms in its slots."""
        return graph_pattern(
            _filled(self.triples, terms),
            map(layout.span, self.spans),
            layout.first_mentions(self.mentions, terms),
            [Filter(_made(recipe, terms, layout), layout.span(span)) for recipe, span in self.filters],
            self.projection,
        )


@dataclass(frozen=True, slots=True)
class Template:
    """A query with slots. A slot is the number of a constant in the text; its maker reads what is written there."""

    makers: tuple[tuple[int, Maker], ...]
    patterns: tuple[PatternTemplate, ...]
    template: tuple[tuple[Recipe, Recipe, Recipe], ...]
    template_spans: tuple[Span | None, ...]
    distinct: bool
    residual: tuple[str | int, ...] | None
    core_decides: bool
    regexes: tuple[tuple[Recipe, Recipe], ...]

    def fill(self, constants: Sequence[str], layout: Layout, id: str, text: str) -> Subscription:
        """Return the subscription of the text that has these constants in this layout.

        Raises ValueError when one of them cannot stand there; reading the text in full says why.
        """
        terms: dict[int, Any] = {slot: make(constants[slot]) for slot, make in self.makers}
        self._check_regexes(terms, layout)
        patterns = tuple([pattern.fill(terms, layout) for pattern in self.patterns])
        built = zip(_filled(self.template, terms), map(layout.span, self.template_spans), strict=True)
        template = tuple([TemplateTriple(*triple, span) for triple, span in built])
        residual = None if self.residual is None else "".join([_text(part, terms) for part in self.residual])
        if residual is not None and len(residual) > TEXT_MAX:
            raise ValueError(id)
        return Subscription(
            id, patterns, residual, self.distinct, template, LANGUAGE, text, core_decides=self.core_decides
        )

    def _check_regexes(self, terms: dict[int, Any], layout: Layout) -> None:
        for pattern, flags in self.regexes:
            known = "" if flags is None else _made(flags, terms, layout).value
            regex.check_flags(known)
            if pattern is not None:
                regex.check_pattern(_made(pattern, terms, layout).value, known)


def _text(part: str | int, terms: dict[int, Any]) -> str:
    return str(terms[part]) if isinstance(part, int) else part


def _filled(triples: Sequence[tuple[Recipe, Recipe, Recipe]], terms: dict[int, Any]) -> list[tuple[Any, Any, Any]]:
    return [
        (terms[s] if type(s) is int else s, terms[p] if type(p) is int else p, _term(o, terms)) for s, p, o in triples
    ]


def _term(recipe: Recipe, terms: dict[int, Any]) -> Any:
    if type(recipe) is int:
        return terms[recipe]
    if type(recipe) is _Composite:
        return recipe.make(*[_term(part, terms) for part in recipe.parts])
    return recipe


def _made(recipe: Recipe, terms: dict[int, Any], layout: Layout) -> Any:
    if type(recipe) is tuple:
        function, arguments, span = recipe
        return Call(function, tuple([_made(each, terms, layout) for each in arguments]), layout.span(span))
    return _term(recipe, terms)


def build_template(source: Source, tokens: Sequence[Token], prologue: Prologue) -> tuple[Template, frozenset[int]]:
    """Return the template of a text that was read in full without an error, and the constants that it fixes."""
    reader = _SlotReader(source, prologue, tokens)
    compiled = compile_query(read_query(tokens, reader), source)
    constants = range(sum(token.type in CONSTANTS for token in tokens))
    return _template(compiled, reader), frozenset(constants) - reader.makers.keys()


def _template(compiled: Compiled, reader: _SlotReader) -> Template:
    return Template(
        tuple(reader.makers.items()),
        tuple(map(_pattern_template, compiled.core, compiled.projections)),
        tuple((_recipe(made.subject), _recipe(made.property), _recipe(made.object)) for made in compiled.template),
        tuple(made.span for made in compiled.template),
        compiled.distinct,
        None if compiled.residual is None else _pieces(compiled.residual),
        compiled.core_decides,
        tuple(reader.regexes),
    )


def _pattern_template(core: Conjunction, projection: tuple[Variable, ...]) -> PatternTemplate:
    return PatternTemplate(
        tuple((_recipe(s), _recipe(p), _recipe(o)) for s, p, o in core.triples),
        tuple(core.spans),
        tuple((_recipe(term), span) for term, span in core.mentions),
        tuple((_recipe(each.expression), each.span) for each in core.filters),
        projection,
    )


def _recipe(term: Any) -> Recipe:
    if isinstance(term, Call):
        return term.function, [_recipe(argument) for argument in term.arguments], term.span
    if isinstance(term, Triple | TemplateTriple):
        predicate = term.predicate if isinstance(term, Triple) else term.property
        return _Composite(type(term), (_recipe(term.subject), _recipe(predicate), _recipe(term.object)))
    slot = _slot_of(term)
    return term if slot is None else slot


def _slot_of(term: Any) -> int | None:
    if isinstance(term, NamedNode | Literal):
        prefix, found, number = term.value.partition(MARK)
        if found and prefix in ("urn:", "") and number.isdigit():
            return int(number)
    return None


def _pieces(printed: str) -> tuple[str | int, ...]:
    """Return the printed query in pieces: text as it is, and a number where a slot was printed."""
    pieces: list[str | int] = []
    end = 0
    for match in _PRINTED.finditer(printed):
        pieces += [printed[end : match.start()], int(match[1] or match[2])]
        end = match.end()
    return *pieces, printed[end:]


class _SlotReader(QueryReader):
    """Reads a query like its base, but puts a slot in the place of each constant, and remembers how to read it."""

    def __init__(self, source: Source, prologue: Prologue, tokens: Sequence[Token]) -> None:
        super().__init__(source, prologue, labels_of(tokens))
        self.makers: dict[int, Maker] = {}
        self.regexes: list[tuple[Recipe, Recipe]] = []
        self._fixed: dict[int, NamedNode] = {}
        self._starts = {place(token)[0]: number for number, token in enumerate(tokens)}
        self._ends = {place(token)[1]: number for number, token in enumerate(tokens)}
        constants = [place(token)[0] for token in tokens if token.type in CONSTANTS]
        self._slots = {start: slot for slot, start in enumerate(constants)}

    def span(self, meta: Meta | Token) -> Span | None:
        """Return which tokens these are: other texts have them elsewhere."""
        if isinstance(meta, Token):
            start, end = place(meta)
        elif meta.empty:
            return None
        else:
            start, end = meta.start_pos, meta.end_pos
        return Span(self._starts[start], 0, self._ends[end], 0)

    def resource(self, token: Token) -> NamedNode:
        slot = self._slot(token)
        self._fixed[slot] = super().resource(token)
        self.makers[slot] = self.prologue.expand if token.type == "PNAME" else partial(_iri, self.prologue)
        return NamedNode(f"urn:{MARK}{slot}")

    def constant(self, at: Meta | Span | None, token: Token, suffix: Token | Occurrence | None) -> Literal:
        if token.type == "BOOLEAN":
            return super().constant(at, token, suffix)
        slot = self._slot(token)
        self.makers[slot] = self._maker(token, suffix)
        return Literal(f"{MARK}{slot}")

    def _maker(self, token: Token, suffix: Token | Occurrence | None) -> Maker:
        if token.type != "STRING":
            return literals.number
        if suffix is None:
            return _plain
        if isinstance(suffix, Token):
            return partial(_tagged, str(suffix))
        return partial(_typed, self._unslotted(suffix))

    def function_name(self, function: Occurrence) -> NamedNode:
        return self._unslotted(function)

    def check_regex(self, call: Builtin) -> None:
        pattern, flags = (each and _recipe(each.term) for each in regex_constants(call))
        if pattern is not None or flags is not None:
            self.regexes.append((pattern, flags))

    def _slot(self, token: Token) -> int:
        return self._slots[token.start_pos or 0]

    def _unslotted(self, occurrence: Occurrence) -> NamedNode:
        """Return the resource itself: it shapes the tree, and is no slot after all."""
        slot = _slot_of(occurrence.term)
        assert slot is not None  # noqa: S101 - every resource was read by this class
        self.makers.pop(slot, None)
        return self._fixed[slot]


def _iri(prologue: Prologue, written: str) -> NamedNode:
    return prologue.iri(written[1:-1])


def _plain(written: str) -> Literal:
    return Literal(literals.string(written))


def _tagged(tag: str, written: str) -> Literal:
    return literals.tagged(literals.string(written), tag)


def _typed(datatype: NamedNode, written: str) -> Literal:
    return literals.typed(literals.string(written), datatype)
