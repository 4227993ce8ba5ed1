"""Matches: an event and a subscription that met, and how."""

from __future__ import annotations

from dataclasses import dataclass, field

from ontosub.model.interval import Interval
from ontosub.model.terms import Term, Triple, Variable


class Binding(dict[str, Term]):
    """One answer: what each projected variable stands for. An unbound variable is absent.

    Keys are names without the question mark; a `Variable`, or a name with one, finds the same entry.

    >>> from pyoxigraph import Literal
    >>> binding = Binding(price=Literal(350))
    >>> binding["price"] is binding["?price"] is binding[Variable("price")]
    True
    """

    __slots__ = ()

    def __missing__(self, key: object) -> Term:
        name = key.value if isinstance(key, Variable) else key.removeprefix("?") if isinstance(key, str) else None
        if name is None or name == key or name not in self:
            raise KeyError(key)
        return self[name]


@dataclass(frozen=True, slots=True)
class Match:
    """An event that matched a subscription.

    `bindings` holds one entry per answer, in no particular order unless the subscription asks for one. `graph` is
    what a CONSTRUCT or DESCRIBE subscription makes of the event; for all others it is None.
    """

    subscription_id: str
    event_id: str
    bindings: list[Binding] = field(default_factory=list)
    graph: frozenset[Triple] | None = None
    interval: Interval | None = None
