"""From text to tree, by recursive descent.

text       = { "PREFIX" prefix ":" iri | "BASE" iri } choice
choice     = both { ( "or" | "|" ) both }
both       = related { ( "and" | "&" | "&&" ) [ "not" ] related | "-" related }
related    = unary { ( relation | "parallel" | "||" | "=" ) unary }
unary      = ( "not" | "-" ) unary | repeated
repeated   = operand { ( "times" | "^" ) ( number | "*" ) }
operand    = ( name | language "{" … "}" ) [ "(" variable [ "as" variable ] { "," … } ")" ] | "(" choice ")"
suffix     = ( "within" | "_" ) duration | "where" condition | "per" [ "only" ] ( variable { "," variable } | "()" )
           | "with" aggregate "as" variable { "," … } | "reuse" | "consume"

Suffixes stand behind an operand or a number of times. Behind a closing bracket, a suffix belongs to the operator inside
that bracket. Elsewhere it belongs to the operator that stands nearest before it in the same bracket. Of an operand
without an operator, of one in two brackets, or of one whose operator has such a suffix already, it makes a restriction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ontosub.languages.composite.reader import Reader, has, restricted
from ontosub.languages.composite.syntax import (
    AND,
    AND_NOT,
    NOT,
    OR,
    PARALLEL,
    TIMES,
    Applied,
    Chosen,
    Inline,
    Named,
    Syntax,
)
from ontosub.languages.composite.tokens import Token
from ontosub.languages.composite.words import LANGUAGES, RELATIONS, RESERVED
from ontosub.languages.prologue import Prologue
from ontosub.languages.sparql.source import Source
from ontosub.model.composite import COUNT_MAX, DEPTH_MAX, NODES_MAX, OPERANDS_MAX
from ontosub.model.errors import Span

_OPERAND = "the name of a subscription, an inline one such as sparql { … }, or a bracket"
_CHOICE = {"or": OR, "|": OR}
_BOTH = {"and": AND, "&": AND, "&&": AND, "-": AND_NOT}
_RELATED = {**RELATIONS, "parallel": PARALLEL, "||": PARALLEL}
_CHAINED = frozenset(_RELATED.values())


def parse_tree(source: Source, prefixes: Mapping[str, str] | None = None) -> tuple[Syntax, Prologue]:
    """Return the tree of a text, and the prefixes that hold for it.

    Raises LanguageError with position and hint, LimitError when the text is too long, too deep or has too many parts.
    """
    parser = _Parser(source, Prologue(prefixes))
    return parser.text(), parser.prologue


class _Parser(Reader):
    """Reads tokens from left to right, one method for each line of the grammar."""

    def __init__(self, source: Source, prologue: Prologue) -> None:
        super().__init__(source, prologue)
        self._latest: Applied | None = None  # the operator that was read last inside the present bracket
        self._depth = 0
        self._parts = 0

    def text(self) -> Syntax:
        """Read declarations, then one pattern up to the end."""
        while self.peek().word in ("prefix", "base"):
            self.declaration()
        tree = self._choice()
        if self.peek().kind != "END":
            raise self.unexpected("an operator (and, or, before, …), a suffix (within, where, …) or the end")
        return tree

    def _choice(self) -> Syntax:
        return self._chain(_CHOICE, self._both)

    def _both(self) -> Syntax:
        return self._chain(_BOTH, self._related)

    def _related(self) -> Syntax:
        return self._chain(_RELATED, self._unary)

    def _chain(self, operators: Mapping[str, str], operand: Callable[[], Syntax]) -> Syntax:
        """Read operands between operators; the same operator again and again makes one with many operands."""
        left = operand()
        while (found := self._operator(operators)) is not None:
            name, span = found
            open_chain = left if isinstance(left, Applied) and not left.closed else None
            if open_chain is not None and open_chain.operator != name and {open_chain.operator, name} <= _CHAINED:
                hint = f"Say with brackets what belongs together: (A {open_chain.operator} B) {name} C."
                raise self.source.error("two different relations follow each other", span, hint)
            joined = Applied(name, [left], span)
            if open_chain is not None and open_chain.operator == name != AND_NOT:
                joined = open_chain
            self._latest = joined
            joined.operands.append(operand())
            self._check_width(joined)
            left = joined
        return left

    def _operator(self, operators: Mapping[str, str]) -> tuple[str, Span] | None:
        """Read one of the operators, if it comes next."""
        first, second = self.peek(), self.peek(1)
        if f"{first.word} {second.word}" in operators:
            self.take(), self.take()
            return operators[f"{first.word} {second.word}"], self.source.span(first.start, second.end)
        if first.word not in operators:
            return None
        self.take()
        if operators[first.word] == AND and second.word == "not":
            self.take()
            return AND_NOT, self.source.span(first.start, second.end)
        return operators[first.word], self.span(first)

    def _unary(self) -> Syntax:
        token = self.peek()
        if token.word not in ("not", "-"):
            return self._repeated()
        self.take()
        self._descend(token)
        self._latest = applied = Applied(NOT, [], self.span(token))
        applied.operands.append(self._unary())
        self._depth -= 1
        return applied

    def _repeated(self) -> Syntax:
        pattern = self._operand()
        while self.peek().word in ("times", "^"):
            self._count_part(self.peek())
            pattern = Applied(TIMES, [pattern], self.span(self.take()), count=self._count())
            self._latest = pattern
            pattern = self._suffixes(pattern)
        return pattern

    def _count(self) -> int | None:
        token = self.take()
        if token.word == "*":
            return None
        hint = f"Write how often, from 1 to {COUNT_MAX:,}, or * for as often as it comes."
        if token.kind not in ("NUMBER", "SIGNED"):
            raise self.unexpected("a number or *", token)
        if not token.text.isdigit() or len(token.text) > 9 or not 1 <= int(token.text) <= COUNT_MAX:
            raise self.source.error(f"{token.text[:20]} is no number of times", self.span(token), hint)
        return int(token.text)

    def _suffixes(self, operand: Syntax, *, in_bracket: bool = False) -> Syntax:
        """Read the suffixes behind an operand, and return the operand with those that belong to it."""
        while self.at_suffix():
            token, target = self.peek(), None if in_bracket else self._latest
            if target is None:
                if not isinstance(operand, Applied) or operand.brackets > 1 or has(operand, token.word):
                    self._count_part(token)
                    operand = restricted(operand, self.span(token))
                target = operand
            elif has(target, token.word):
                hint = "Say it once, or use brackets to say it of something else."
                raise self.source.error(f"there is a second {token.word} for the same operator", self.span(token), hint)
            self.suffix(target)
            target.closed = True
        return operand

    def _operand(self) -> Syntax:
        token = self.peek()
        operand: Syntax
        if token.word == "(":
            operand = self._bracket()
        elif token.word in LANGUAGES and self.peek(1).word == "{":
            operand = self._inline()
        elif token.kind == "STRING" or (token.kind in ("WORD", "PNAME") and token.word not in RESERVED):
            name, span = self._name()
            operand = Named(name, span, self._chosen())
        else:
            raise self.unexpected(_OPERAND)
        self._count_part(token)
        return self._suffixes(operand, in_bracket=token.word == "(")

    def _bracket(self) -> Syntax:
        self._descend(self.take())
        outer, self._latest = self._latest, None
        tree = self._choice()
        self._latest = outer
        self._depth -= 1
        self.expect(")", "an operator, a suffix or a closing bracket")
        if isinstance(tree, Applied):
            tree.closed = True
            tree.brackets += 1
        return tree

    def _name(self) -> tuple[str, Span]:
        """Read a name: in quotes, or words and numbers joined by hyphens, dots and colons without spaces."""
        token = self.take()
        if token.kind == "STRING":
            return self.string(token), self.span(token)
        end = token.end
        while self._joins(end):
            end = self.take().end
        return self.source.text[token.start : end], self.source.span(token.start, end)

    def _joins(self, end: int) -> bool:
        """Say whether the next token goes on with the name that ends there."""
        token, after = self.peek(), self.peek(1)
        if token.start != end:
            return False
        if token.word in ("-", "."):
            return after.start == token.end and after.kind in ("WORD", "PNAME", "NUMBER")
        return token.kind in ("WORD", "PNAME", "NUMBER", "SIGNED") and not token.text.startswith(("_", "+"))

    def _inline(self) -> Inline:
        language, opening = self.take(), self.take()
        depth = 1
        while depth:
            token = self.take()
            if token.kind == "END":
                raise self.source.error(
                    "the inline subscription is not closed", self.span(opening), "Each { needs its }."
                )
            depth += {"{": 1, "}": -1}.get(token.word, 0)
        span = self.source.span(language.start, token.end)
        return Inline(language.word, self.source.text[opening.end : token.start], opening.end, span, self._chosen())

    def _chosen(self) -> tuple[Chosen, ...] | None:
        """Read which variables of an operand take part, and under which names; None when nothing is said."""
        if self.peek().kind == "NIL":
            self.take()
            return ()
        if self.peek().word != "(" or self.peek(1).kind != "VAR":
            return None
        self.take()
        chosen = [self._choose(), *self._more(self._choose)]
        self.expect(")", "a comma, or the closing bracket")
        return tuple(chosen)

    def _choose(self) -> Chosen:
        variable, span = self.variable()
        if self.peek().word != "as":
            return Chosen(variable, variable, span)
        self.take()
        name, end = self.variable()
        return Chosen(variable, name, span.to(end))

    def _descend(self, token: Token) -> None:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise self.source.limit("nested too deeply", self.span(token), f"At most {DEPTH_MAX} levels are allowed.")

    def _count_part(self, token: Token) -> None:
        self._parts += 1
        if self._parts > NODES_MAX:
            hint = f"At most {NODES_MAX} operands and operators are allowed: split it up."
            raise self.source.limit("the pattern has too many parts", self.span(token), hint)

    def _check_width(self, applied: Applied) -> None:
        if len(applied.operands) > OPERANDS_MAX:
            hint = f"At most {OPERANDS_MAX} may stand side by side: group some with brackets."
            raise self.source.limit("an operator has too many operands", applied.span, hint)
