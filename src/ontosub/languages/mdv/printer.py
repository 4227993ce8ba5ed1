"""From the tree of a rule to text: what is printed here is read as the same tree."""

from __future__ import annotations

from ontosub.languages.mdv.syntax import (
    And,
    Comparison,
    Condition,
    Extension,
    Iri,
    Name,
    Not,
    Number,
    Operand,
    Or,
    Path,
    Rule,
    Step,
    Text,
    Truth,
)

_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r"})


def print_rule(rule: Rule) -> str:
    """Return the rule's text: one line for each prefix, then search, register and where.

    >>> from ontosub.languages.mdv.parser import parse_tree
    >>> print(print_rule(parse_tree("SEARCH :Provider  c REGISTER c WHERE not(c.port = 80 OR c.tag? contains 'x')")))
    search :Provider c
    register c
    where not (c.port = 80 or c.tag? contains 'x')
    """
    lines = [f"PREFIX {declared.prefix}: <{declared.iri.value}>" for declared in rule.prefixes]
    searches = (f"{_operand(search.extension)} {search.variable.value}" for search in rule.searches)
    lines.append(f"search {', '.join(searches)}")
    lines.append(f"register {rule.registered.value}")
    if rule.condition is not None:
        lines.append(f"where {_condition(rule.condition)}")
    return "\n".join(lines)


def _condition(condition: Condition) -> str:
    match condition:
        case Comparison(left, operator, right):
            return f"{_operand(left)} {operator.value} {_operand(right)}"
        case Not(part):
            return f"not {_factor(part)}"
        case And(parts):
            return " and ".join(map(_factor, parts))
        case Or(parts):
            # `and` binds tighter than `or`, so only an `or` inside an `or` needs brackets.
            return " or ".join(f"({_condition(part)})" if isinstance(part, Or) else _condition(part) for part in parts)


def _factor(condition: Condition) -> str:
    printed = _condition(condition)
    return f"({printed})" if isinstance(condition, And | Or) else printed


def _operand(operand: Operand | Extension) -> str:
    match operand:
        case Iri(value):
            return f"<{value}>"
        case Name():
            return str(operand)
        case Text(value):
            return f"'{value.translate(_ESCAPES)}'"
        case Number(lexical):
            return lexical
        case Truth(value):
            return "true" if value else "false"
        case Path(variable, steps):
            return variable.value + "".join(map(_step, steps))


def _step(step: Step) -> str:
    return f".{_operand(step.property)}{'?' if step.any else ''}"
