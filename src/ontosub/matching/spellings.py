"""A query rewritten so that Oxigraph sees an event's literals as they are spelled in the event.

Its store keeps values, so that STR and DATATYPE would speak of another literal than the event does. Where they are
asked of a variable that stands for a term of the event, functions of ours take their place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ontosub.languages.sparql.syntax import (
    Aggregate,
    Bind,
    Builtin,
    Expression,
    FunctionCall,
    Modifiers,
    Occurrence,
    Projected,
    Query,
    Values,
    rewritten,
    variable_of,
    walk,
)
from ontosub.matching.event_store import DATATYPE, STR
from ontosub.model.terms import Variable

_FUNCTIONS = {"STR": STR, "DATATYPE": DATATYPE}


def with_spellings(query: Query, computed: frozenset[str]) -> Query:
    """Return the query that asks for spellings wherever it can; `computed` are the variables that have none."""

    def change(node: Any) -> Any:
        if isinstance(node, Builtin) and node.name in _FUNCTIONS and _is_given(node.arguments[0], computed):
            return FunctionCall(_FUNCTIONS[node.name], node.arguments)
        if isinstance(node, Modifiers):
            return replace(node, group_by=tuple(map(_grouping, node.group_by)))
        return node

    result: Query = rewritten(query, change)
    return result


def _is_given(expression: Expression, computed: frozenset[str]) -> bool:
    variable = variable_of(expression) if isinstance(expression, Occurrence) else None
    return variable is not None and variable.value not in computed


def _grouping(key: Projected) -> Projected:
    """Return the key with a variable under another name as an expression: Oxigraph takes no bare one there."""
    if key.variable is not None and isinstance(key.expression, Occurrence):
        return replace(key, expression=Builtin("COALESCE", (key.expression,)))
    return key


def computed_names(query: Query) -> frozenset[str]:
    """Return the variables whose values come from the query, not from the event."""
    computed: set[str] = set()
    copies: list[tuple[str, str]] = []
    for node in walk(query):
        if isinstance(node, Values):
            computed.update(map(_name, node.variables))
        elif isinstance(node, Bind | Projected) and node.expression is not None and node.variable is not None:
            name, sources = _name(node.variable), _sources(node.expression)
            if sources is None:
                computed.add(name)
            else:
                copies += [(name, source) for source in sources]
    while more := {name for name, source in copies if source in computed} - computed:
        computed |= more
    return frozenset(computed)


def _name(variable: Occurrence) -> str:
    return str(variable.term).removeprefix("?")


def _sources(expression: Expression) -> list[str] | None:
    """Return the variables of which the expression gives one as it is; None when it may give something else."""
    match expression:
        case Occurrence(term=Variable() as variable):
            return [variable.value]
        case Aggregate(name="MIN" | "MAX" | "SAMPLE", argument=Occurrence() as argument):
            return _sources(argument)
        case Builtin(name="COALESCE", arguments=choices) | Builtin(name="IF", arguments=(_, *choices)):
            found = [_sources(choice) for choice in choices]
            return None if None in found else [name for names in found if names for name in names]
        case _:
            return None
