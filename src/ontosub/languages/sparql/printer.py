"""From tree to text: what is printed here is read as the same tree.

Nothing is abbreviated: IRIs are written in full and literals with their datatypes, so that the text means the same
wherever it is read, and so that each term is printed in one way only.
"""

from __future__ import annotations

from collections.abc import Iterable

from ontosub.languages.sparql.syntax import (
    Aggregate,
    Alternative,
    Ask,
    Bind,
    Block,
    Builtin,
    Construct,
    Describe,
    Element,
    Exclusion,
    Exists,
    Expression,
    Filter,
    FunctionCall,
    Graph,
    Group,
    Inverse,
    Minus,
    Modifiers,
    Occurrence,
    Operation,
    Optional,
    Path,
    Pattern,
    Projected,
    Query,
    Repetition,
    Select,
    Sequence,
    TriplePattern,
    TripleTerm,
    Union,
    Values,
)
from ontosub.model import expression as model
from ontosub.model.errors import UsageError
from ontosub.model.terms import BlankNode, Literal, NamedNode, Triple, written

_LEVELS = {
    **{"||": 1, "&&": 2},
    **dict.fromkeys(("=", "!=", "<", "<=", ">", ">=", "IN", "NOT IN"), 3),
    **{"+": 4, "-": 4, "*": 5, "/": 5},
    **{"!": 6, "unary +": 6, "unary -": 6},
}
_PRIMARY = 7
"""How tightly operators bind; what is no operation binds tightest."""


def print_query(query: Query) -> str:
    """Return the text of a query.

    >>> from ontosub.languages.sparql.parser import parse_query
    >>> print(print_query(parse_query("select ?x { ?x a <urn:C> ; <urn:p> 7 filter(?x = 1 || ?x < 2 && true) }")))
    ... # doctest: +ELLIPSIS
    SELECT ?x WHERE { ?x <...#type> <urn:C> . ?x <urn:p> "7"^^<...#integer> . FILTER(?x = ...) }
    """
    base = f"BASE <{query.base}>" if query.base is not None else ""
    match query:
        case Select():
            return _joined([base, _select(query)])
        case Ask(where):
            head = f"ASK {_pattern(where)}"
        case Construct(template, where):
            head = f"CONSTRUCT {{ {_triples(template)} }} WHERE {_pattern(where)}"
        case Describe(targets, where):
            named = "*" if targets is None else " ".join(_term(target) for target in targets)
            head = f"DESCRIBE {named}" if where is None else f"DESCRIBE {named} WHERE {_pattern(where)}"
    return _joined([base, head, _modifiers(query.modifiers), _values(query.values)])


def _joined(parts: Iterable[str]) -> str:
    return " ".join(part for part in parts if part)


def _select(select: Select) -> str:
    projection = "*" if select.projection is None else " ".join(map(_projected, select.projection))
    head = ["SELECT", select.duplicates or "", projection, "WHERE", _pattern(select.where)]
    return _joined([*head, _modifiers(select.modifiers), _values(select.values)])


def _projected(item: Projected) -> str:
    if item.expression is None and item.variable is not None:
        return _term(item.variable)
    assert item.expression is not None  # noqa: S101 - one of the two is always there
    alias = f" AS {_term(item.variable)}" if item.variable is not None else ""
    return f"({print_expression(item.expression)}{alias})"


def _modifiers(modifiers: Modifiers) -> str:
    parts = []
    if modifiers.group_by:
        parts.append(f"GROUP BY {' '.join(map(_projected, modifiers.group_by))}")
    if modifiers.having:
        parts.append(f"HAVING{' '.join(map(_constraint, modifiers.having))}")
    if modifiers.order_by:
        keys = (
            f"{'DESC' if key.descending else 'ASC'}({print_expression(key.expression)})" for key in modifiers.order_by
        )
        parts.append(f"ORDER BY {' '.join(keys)}")
    if modifiers.limit is not None:
        parts.append(f"LIMIT {modifiers.limit}")
    if modifiers.offset is not None:
        parts.append(f"OFFSET {modifiers.offset}")
    return " ".join(parts)


def _values(values: Values | None) -> str:
    if values is None:
        return ""
    names = " ".join(map(_term, values.variables))
    rows = (" ".join("UNDEF" if each is None else _term(each) for each in row) for row in values.rows)
    return f"VALUES ({names}) {{ {' '.join(f'({row})' for row in rows)} }}"


def _pattern(pattern: Pattern) -> str:
    if isinstance(pattern, Select):
        return f"{{ {_select(pattern)} }}"
    return f"{{ {_joined(map(_element, pattern.elements))} }}"


def _element(element: Element) -> str:
    match element:
        case Block(triples):
            return _triples(triples)
        case Filter(expression):
            return f"FILTER{_constraint(expression)}"
        case Optional(pattern):
            return f"OPTIONAL {_pattern(pattern)}"
        case Minus(pattern):
            return f"MINUS {_pattern(pattern)}"
        case Union(branches):
            return " UNION ".join(map(_pattern, branches))
        case Graph(name, pattern):
            return f"GRAPH {_term(name)} {_pattern(pattern)}"
        case Bind(expression, variable):
            return f"BIND({print_expression(expression)} AS {_term(variable)})"
        case Values():
            return _values(element)
        case Group() | Select():
            return _pattern(element)


def _constraint(expression: Expression) -> str:
    """Return a condition: a call stands alone, anything else needs brackets."""
    printed = print_expression(expression)
    return f"({printed})" if isinstance(expression, Occurrence | Operation) else f" {printed}"


def _triples(triples: Iterable[TriplePattern]) -> str:
    return " ".join(f"{_term(triple.subject)} {_path(triple.verb)} {_term(triple.object)} ." for triple in triples)


def _term(occurrence: Occurrence) -> str:
    term = occurrence.term
    if isinstance(term, TripleTerm):
        return f"<<( {_term(term.subject)} {_term(term.predicate)} {_term(term.object)} )>>"
    return written(term)


def _path(path: Path) -> str:
    match path:
        case Occurrence():
            return _term(path)
        case Inverse(inner):
            return f"(^{_path(inner)})"
        case Sequence(steps):
            return f"({'/'.join(map(_path, steps))})"
        case Alternative(choices):
            return f"({'|'.join(map(_path, choices))})"
        case Repetition(inner, modifier):
            return f"({_path(inner)}{modifier})"
        case Exclusion(excluded):
            return f"!({'|'.join(map(_excluded, excluded))})"


def _excluded(step: Occurrence | Inverse) -> str:
    """Return a step that is excluded: there, no brackets are allowed."""
    return f"^{_path(step.path)}" if isinstance(step, Inverse) else _path(step)


def print_expression(expression: Expression) -> str:
    """Return the text of an expression."""
    match expression:
        case Occurrence():
            return _term(expression)
        case Operation(operator, operands):
            return _operation(operator, operands)
        case Builtin(name, arguments):
            return f"{name}({', '.join(map(print_expression, arguments))})"
        case FunctionCall(function, arguments, distinct):
            return f"{function}({'DISTINCT ' if distinct else ''}{', '.join(map(print_expression, arguments))})"
        case Aggregate(name, argument, distinct, separator):
            inner = "*" if argument is None else print_expression(argument)
            ending = f"; SEPARATOR={Literal(separator)}" if separator is not None else ""
            return f"{name}({'DISTINCT ' if distinct else ''}{inner}{ending})"
        case Exists(pattern, negated):
            return f"{'NOT ' if negated else ''}EXISTS {_pattern(pattern)}"


def _operation(operator: str, operands: tuple[Expression, ...]) -> str:
    level = _LEVELS[operator]
    if operator in ("||", "&&"):
        return f" {operator} ".join(_at(operand, level + 1) for operand in operands)
    if operator in ("IN", "NOT IN"):
        return f"{_at(operands[0], level + 1)} {operator} ({', '.join(map(print_expression, operands[1:]))})"
    if level == 6:
        return f"{operator.removeprefix('unary ')}{_at(operands[0], _PRIMARY)}"
    left, right = operands
    chained = level if level > 3 else level + 1
    return f"{_at(left, chained)} {operator} {_at(right, level + 1)}"


def _at(expression: Expression, level: int) -> str:
    """Return the text of an operand, in brackets if it binds less tightly than asked."""
    own = _LEVELS[expression.operator] if isinstance(expression, Operation) else _PRIMARY
    printed = print_expression(expression)
    return printed if own >= level else f"({printed})"


def from_model(expression: model.Expression) -> Expression:
    """Return the tree of a filter's expression.

    Raises UsageError for what SPARQL cannot say: MDV's NUMBER. A base that IRI was given is left out, and so is what
    stands in an EXISTS, whose pattern is no longer a tree.
    """
    if isinstance(expression, model.Exists):
        return Exists(Group())
    if isinstance(expression, Triple):
        parts = (expression.subject, expression.predicate, expression.object)
        return Builtin("TRIPLE", tuple(from_model(part) for part in parts if not isinstance(part, BlankNode)))
    if not isinstance(expression, model.Call):
        return Occurrence(expression)
    function, arguments = expression.function, expression.arguments
    if function is model.Function.NUMBER:
        raise UsageError("the function number() of MDV cannot be written in this language")
    operands = tuple(map(from_model, arguments[:1] if function is model.Function.IRI else arguments))
    if function in model.CASTS:
        return FunctionCall(NamedNode(function.value), operands)
    return Operation(function.value, operands) if function.value in _LEVELS else Builtin(function.value, operands)
