"""From parse trees to expressions and property paths."""

from __future__ import annotations

from typing import Any

from lark import Token, v_args
from lark.tree import Meta

from ontosub.languages.sparql import literals, regex
from ontosub.languages.sparql.syntax import (
    Aggregate,
    Alternative,
    Builtin,
    Exclusion,
    Exists,
    Expression,
    FunctionCall,
    Inverse,
    Occurrence,
    Operation,
    Path,
    Pattern,
    Repetition,
    Sequence,
    TripleTerm,
)
from ontosub.languages.sparql.terms_reader import TermsReader
from ontosub.languages.sparql.tokens import FUNCTIONS
from ontosub.model.expression import CASTS
from ontosub.model.terms import BlankNode, Literal, NamedNode, Variable

_PATTERN_PLACE = {"REGEX": (1, 2), "REPLACE": (1, 3)}
"""Which arguments are a regular expression and its flags."""


@v_args(meta=True)
class ExpressionsReader(TermsReader):
    """Reads expressions and paths. Each method is named after the rule that it reads."""

    calls_iri = False

    def disjunction(self, meta: Meta, operands: list[Expression]) -> Operation:
        return Operation("||", tuple(operands), self.span(meta))

    def conjunction(self, meta: Meta, operands: list[Expression]) -> Operation:
        return Operation("&&", tuple(operands), self.span(meta))

    def comparison(self, meta: Meta, children: list[Any]) -> Operation:
        left, operator, right = children
        return Operation(str(operator), (left, right), self.span(meta))

    def membership(self, meta: Meta, children: list[Any]) -> Operation:
        operator = "NOT IN" if len(children) == 3 else "IN"
        return Operation(operator, (children[0], *children[-1]), self.span(meta))

    def sum(self, meta: Meta, children: list[Any]) -> Expression:
        return self.chain(meta, children)

    def product(self, meta: Meta, children: list[Any]) -> Expression:
        return self.chain(meta, children)

    def chain(self, meta: Meta, children: list[Any]) -> Expression:
        """Return the operations of a chain, the first one innermost."""
        expression: Expression = children[0]
        for operator, operand in children[1:]:
            expression = Operation(operator, (expression, operand), self.span(meta))
        return expression

    def plus(self, _meta: Meta, children: list[Expression]) -> tuple[str, Expression]:
        return "+", children[0]

    def minus_term(self, _meta: Meta, children: list[Expression]) -> tuple[str, Expression]:
        return "-", children[0]

    def times(self, _meta: Meta, children: list[Expression]) -> tuple[str, Expression]:
        return "*", children[0]

    def over(self, _meta: Meta, children: list[Expression]) -> tuple[str, Expression]:
        return "/", children[0]

    def signed(self, meta: Meta, children: list[Any]) -> tuple[str, Expression]:
        """Read `-5` in `?x -5`: the sign belongs to the number, so the two are added."""
        number, *factors = children
        first = Occurrence(self.constant(meta, number, None), self.span(number))
        return "+", self.chain(meta, [first, *factors])

    def negation(self, meta: Meta, children: list[Expression]) -> Operation:
        return Operation("!", (children[0],), self.span(meta))

    def unary_plus(self, meta: Meta, children: list[Expression]) -> Operation:
        return Operation("unary +", (children[0],), self.span(meta))

    def unary_minus(self, meta: Meta, children: list[Expression]) -> Operation:
        return Operation("unary -", (children[0],), self.span(meta))

    def arguments(self, _meta: Meta, children: list[Any]) -> tuple[Expression, ...]:
        return tuple(child for child in children if not isinstance(child, Token))

    def builtin(self, meta: Meta, children: list[Any]) -> Builtin:
        token, arguments = children
        name = token.upper()
        least, most = FUNCTIONS[name]
        if len(arguments) < least or (most is not None and len(arguments) > most):
            needs = f"{least}" if least == most else f"{least} to {most}"
            hint = f"Give it {needs}."
            raise self.error(f"wrong number of arguments for {name}: {len(arguments)}", meta, hint)
        call = Builtin(name, arguments, self.span(meta))
        self.calls_iri = self.calls_iri or name in ("IRI", "URI")
        if name == "BOUND" and not _is(arguments[0], Variable):
            raise self.error("BOUND asks about something that is no variable", meta, "Write it as in BOUND(?x).")
        if name in _PATTERN_PLACE:
            self.check_regex(call)
        return call

    def triple_value(self, _meta: Meta, children: list[Occurrence]) -> Expression:
        """Read a triple term that an expression makes: a constant, or else a call of TRIPLE."""
        return self._made(children[0])

    def _made(self, part: Occurrence) -> Expression:
        if isinstance(part.term, BlankNode):
            hint = "Use a variable that the pattern binds; BNODE() makes a new blank node."
            raise self.error("a blank node cannot stand in an expression", part.span, hint)
        if not isinstance(part.term, TripleTerm):
            return part
        parts = (part.term.subject, part.term.predicate, part.term.object)
        return Builtin("TRIPLE", tuple([self._made(each) for each in parts]), part.span)

    def check_regex(self, call: Builtin) -> None:
        """Refuse a constant regular expression, or constant flags, that cannot be used."""
        pattern, flags = regex_constants(call)
        if flags is not None and isinstance(flags.term, Literal):
            self.make(flags.span, regex.check_flags, flags.term.value)
        if pattern is not None and isinstance(pattern.term, Literal):
            known = flags.term.value if flags is not None and isinstance(flags.term, Literal) else ""
            self.make(pattern.span, regex.check_pattern, pattern.term.value, known)

    def function_call(self, meta: Meta, children: list[Any]) -> FunctionCall:
        function, *rest = children
        distinct = bool(rest) and isinstance(rest[0], Token) and rest[0].type == "DISTINCT"
        arguments = tuple(child for child in rest if not isinstance(child, Token))
        name = self.function_name(function)
        if name.value not in CASTS:
            hint = "Of the functions with IRIs, only the casts of XSD are known, such as xsd:integer."
            raise self.error(f"unknown function {name}", function.span, hint)
        if len(arguments) != 1:
            raise self.error(f"wrong number of arguments for {name}: {len(arguments)}", meta, "A cast takes one value.")
        return FunctionCall(name, arguments, distinct, self.span(meta))

    def function_name(self, function: Occurrence) -> NamedNode:
        """Return the IRI of a function."""
        assert isinstance(function.term, NamedNode)  # noqa: S101 - what the grammar says
        return function.term

    def aggregate(self, meta: Meta, children: list[Any]) -> Aggregate:
        name, *rest = children
        last = rest[-1]
        argument = None if isinstance(last, Token) else last
        if argument is None and name.upper() != "COUNT":
            raise self.error(f"{name.upper()}(*) makes no sense", meta, "Only COUNT counts solutions; name a variable.")
        return Aggregate(name.upper(), argument, len(rest) == 2, None, self.span(meta))

    def concatenation(self, meta: Meta, children: list[Any]) -> Aggregate:
        tokens = [child for child in children if isinstance(child, Token)]
        argument = next(child for child in children if not isinstance(child, Token))
        separator = self.make(tokens[-1], literals.string, str(tokens[-1])) if tokens[-1].type == "STRING" else None
        distinct = any(token.type == "DISTINCT" for token in tokens)
        return Aggregate("GROUP_CONCAT", argument, distinct, separator, self.span(meta))

    def exists(self, meta: Meta, children: list[Any]) -> Exists:
        pattern: Pattern = children[-1]
        return Exists(pattern, len(children) == 2, self.span(meta))

    def alternative(self, _meta: Meta, choices: list[Path]) -> Alternative:
        return Alternative(tuple(choices))

    def sequence(self, _meta: Meta, steps: list[Path]) -> Sequence:
        return Sequence(tuple(steps))

    def inverse(self, _meta: Meta, children: list[Path]) -> Inverse:
        return Inverse(children[0])

    excluded_inverse = inverse

    def repetition(self, _meta: Meta, children: list[Any]) -> Repetition:
        path, modifier = children
        return Repetition(path, str(modifier))

    def exclusion(self, meta: Meta, children: list[Any]) -> Exclusion:
        if isinstance(children[0], Token):
            raise self.error("!() excludes nothing", meta, "Any property at all is written as a variable.")
        return Exclusion(tuple(children))


def regex_constants(call: Builtin) -> tuple[Occurrence | None, Occurrence | None]:
    """Return the regular expression and the flags of a call, where they are constants."""
    places = _PATTERN_PLACE[call.name]
    found = [call.arguments[place] if place < len(call.arguments) else None for place in places]
    pattern, flags = (each if isinstance(each, Occurrence) and _is(each, Literal) else None for each in found)
    return pattern, flags


def _is(expression: Expression, kind: type) -> bool:
    return isinstance(expression, Occurrence) and isinstance(expression.term, kind)
