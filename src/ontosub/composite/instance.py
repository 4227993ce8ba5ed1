"""Instances: what the operators take in and give out.

An instance of a pattern is something that happened: an interval, the answers that go with it (`rows`), and the
instances that it is made of. Terms are texts in N-Triples here, as they are in tables of matches: they compare by RDF
term equality, and a state of texts and numbers can be stored anywhere. The text of a blank node ends with its event's
id, because its label means nothing elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from ontosub.composite.moments import FOREVER

Row: TypeAlias = dict[str, str]
"""One answer: variables, and their terms as texts. Never changed once it is made."""
Rows: TypeAlias = tuple[Row, ...]
EVENTS_MAX = 100_000
"""How many events a composite is made of at most; one that is part of several constituents counts several times."""
Key: TypeAlias = tuple[int, int, Any, str]
"""What the canonical order goes by: end, start, who it is, which of its answers. Comparable within one pattern."""


class Instance:
    """An occurrence of a pattern. `expires` is the last moment at which a composite that contains it may end.

    `label` is (subscription id, event id) for a primitive one, and None for a composite. `size` is the number of leaves
    in the tree of its constituents. Under *reuse* they share instances, so that a few can be a very large tree.
    """

    # Hundreds of thousands may be held. A single answer is kept without its tuple: one object less for the collector.
    __slots__ = ("_rows", "constituents", "end", "expires", "key", "label", "size", "start")

    def __init__(
        self,
        start: int,
        end: int,
        rows: Rows,
        identity: Any,
        constituents: tuple[Instance, ...] = (),
        expires: int = FOREVER,
        label: tuple[str, str] | None = None,
        tag: str = "",
    ) -> None:
        self.start = start
        self.end = end
        self._rows: Rows | Row = rows[0] if len(rows) == 1 else rows
        self.key: Key = (end, start, identity, tag)
        self.constituents = constituents
        self.expires = expires
        self.label = label
        self.size: int = sum([part.size for part in constituents]) if constituents else 1

    @property
    def rows(self) -> Rows:
        """The answers that go with it."""
        rows = self._rows
        return rows if isinstance(rows, tuple) else (rows,)

    def with_rows(self, rows: Rows, tag: str) -> Instance:
        """Return the part of the instance that has only these of its answers."""
        identity, own_tag = self.key[2:]
        tag = f"{own_tag}\x1f{tag}"
        return Instance(self.start, self.end, rows, identity, self.constituents, self.expires, self.label, tag)

    def __repr__(self) -> str:
        return f"Instance({self.start}, {self.end}, {self.rows}, {self.key[2:]})"


def composed(constituents: tuple[Instance, ...], rows: Rows, identity: Any = None) -> Instance:
    """Return the composite of some instances: from the earliest start to the latest end (JTangCSPS, 9 and 10).

    It lives as long as the first of them to die. Without another `identity` it is known by its constituents.
    """
    return Instance(
        min([part.start for part in constituents]),
        max([part.end for part in constituents]),
        rows,
        tuple([part.key for part in constituents]) if identity is None else identity,
        constituents,
        min([part.expires for part in constituents]),
    )


def joined(first: Rows, second: Rows) -> Rows:
    """Return the answers that agree on all variables they share: SPARQL's join of compatible mappings."""
    if len(first) == 1 and len(second) == 1:
        left, right = first[0], second[0]
        for name in right.keys() & left.keys():
            if left[name] != right[name]:
                return ()
        return ({**left, **right},)
    found: dict[tuple[tuple[str, str], ...], Row] = {}
    for left in first:
        for right in second:
            if all(right.get(name, text) == text for name, text in left.items()):
                row = {**left, **right}
                found[tuple(sorted(row.items()))] = row
    return tuple(found.values())


def unique(rows: Iterable[Row]) -> Rows:
    """Return each answer once, in canonical order."""
    found = {tuple(sorted(row.items())): row for row in rows}
    return tuple([found[key] for key in sorted(found)])


def to_plain(instance: Instance) -> list[Any]:
    """Return the instance as lists, texts and numbers."""
    return [
        instance.start,
        instance.end,
        instance.expires,
        list(instance.rows),
        instance.label,
        instance.key[2],
        instance.key[3],
        [to_plain(part) for part in instance.constituents],
    ]


def from_plain(plain: list[Any]) -> Instance:
    """Return the instance that `to_plain` wrote."""
    start, end, expires, rows, label, identity, tag, constituents = plain
    return Instance(
        start,
        end,
        tuple(rows),
        _tuples(identity),
        constituents=tuple(map(from_plain, constituents)),
        expires=expires,
        label=None if label is None else (label[0], label[1]),
        tag=tag,
    )


def _tuples(plain: Any) -> Any:
    """Return lists as the tuples that they were before they were stored, for example as JSON."""
    return tuple(map(_tuples, plain)) if isinstance(plain, list | tuple) else plain
