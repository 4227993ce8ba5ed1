"""The form of a query: the query with slots in place of its constants, and what stands in them.

Queries of one form are answered together, by one plan.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from ontosub.matching.compiled.queries.paths import Walk
from ontosub.model.algebra import Exclusion, Path, PathPattern, Step, arguments_of
from ontosub.model.expression import FRESH, Call, Exists, Function
from ontosub.model.pattern import Filter
from ontosub.model.terms import Literal, NamedNode, Triple, Variable

_MARK = "ontosub_slot_"


class Form(NamedTuple):
    """A node with slots, what stands in them, and whether queries with an equal node may be answered together."""

    node: Any
    slots: tuple[Any, ...]
    is_shared: bool


def form_of(node: Any) -> Form:
    """Return the form of a node.

    It is not to be shared if it makes fresh values, which depend on where in the text they are asked for, or if a
    variable has the name of a slot.
    """
    lifting = _Lifting()
    lifted = lifting.node(node)
    slots = tuple(Walk(each) if isinstance(each, Path) else each for each in lifting.slots)
    return Form(lifted, slots, lifting.is_shared)


def slot_of(slot: Any) -> int:
    """Return the number of a slot: a term in a pattern, a variable in an expression, or a path."""
    return _numbers[slot]


def is_slot(variable: Any) -> bool:
    """Say whether a variable of an expression is a slot."""
    return variable in _numbers


_numbers: dict[Any, int] = {}


@cache
def _slot(make: Callable[[str], Any], number: int) -> Any:
    slot = make(f"{_MARK}{number}")
    _numbers[slot] = number
    return slot


def _iri(name: str) -> NamedNode:
    return NamedNode(f"urn:{name}")


def _path(name: str) -> Path:
    return Step(_iri(name))


def _exclusion(name: str) -> Path:
    """Return the slot of a path that joins two vertices once for each way between them: no other path does."""
    return Exclusion(frozenset([_iri(name)]), None)


class _Lifting:
    """Puts slots in place of constants, the same slot for the same constant."""

    def __init__(self) -> None:
        self.slots: list[Any] = []
        self.is_shared = True
        self._known: dict[Any, int] = {}

    def _put(self, constant: Any, make: Callable[[str], Any]) -> Any:
        number = self._known.get(constant)
        if number is None:
            number = self._known[constant] = len(self.slots)
            self.slots.append(constant)
        return _slot(make, number)

    def node(self, node: Any) -> Any:
        """Return a part of a query with slots for the terms in its patterns, and in its expressions."""
        match node:
            case Literal():
                return self._put(node, Literal)
            case NamedNode() | Triple():
                return self._put(node, _iri)
            case Variable():
                self.is_shared = self.is_shared and not node.value.startswith(_MARK)
                return node
            case tuple():
                return tuple([self.node(part) for part in node])
            case frozenset():
                return frozenset([self.node(part) for part in sorted(node, key=str)])
            case PathPattern(subject, path, object_):
                slot = self._put(path, _exclusion if isinstance(path, Exclusion) else _path)
                return PathPattern(self.node(subject), slot, self.node(object_))
            case Filter(expression):
                return Filter(self.expression(expression))
            case Call() | Exists():
                return self.expression(node)
        kind: Any = type(node)
        names = arguments_of(kind)
        return kind(*[self._field(node, name) for name in names]) if names else node

    def _field(self, node: Any, name: str) -> Any:
        part = getattr(node, name)
        if name in ("expression", "argument"):
            return None if part is None else self.expression(part)
        if name == "keys":
            return tuple([(self.node(variable), self.expression(key)) for variable, key in part])
        return self.node(part)

    def expression(self, expression: Any) -> Any:
        """Return an expression with variables in place of its constants."""
        match expression:
            case Call(function, arguments, span):
                self.is_shared = self.is_shared and function not in FRESH
                if function in (Function.IN, Function.NOT_IN):
                    # Lists are looked up as they are written.
                    first = self.expression(arguments[0])
                    return Call(function, (first, *map(self._member, arguments[1:])), span)
                return Call(function, tuple(map(self.expression, arguments)), span)
            case Exists(pattern, span):
                return Exists(self.node(pattern), span)
            case NamedNode() | Literal() | Triple():
                return self._put(expression, Variable)
        return self.node(expression)

    def _member(self, expression: Any) -> Any:
        return expression if isinstance(expression, NamedNode | Literal | Triple) else self.expression(expression)
