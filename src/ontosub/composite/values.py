"""The values of correlating variables: what the work of an operator is divided by."""

from __future__ import annotations

from typing import Any, TypeAlias

from ontosub.composite.instance import Instance, Row

Values: TypeAlias = tuple[str, ...] | str
"""One for each correlating variable; of a single variable, the value itself."""


def row_of(names: tuple[str, ...], values: Values) -> Row:
    """Return the variables with their values."""
    return dict(zip(names, (values,) if isinstance(values, str) else values, strict=True))


def from_stored(plain: Any) -> Values:
    """Return values as they were before they were stored, for example as JSON."""
    return plain if isinstance(plain, str) else tuple(plain)


def divided(instance: Instance, names: tuple[str, ...]) -> list[tuple[Values, Instance]]:
    """Return the instance once for each combination of values of the variables, with the answers that have these.

    An answer that does not bind all of them takes no part.
    """
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in instance.rows:
        values = tuple([row[name] for name in names if name in row])
        if len(values) == len(names):
            groups.setdefault(values, []).append(row)
    if len(instance.rows) == 1:
        parts = [(values, instance) for values in groups]
    else:
        parts = [(each, instance.with_rows(tuple(rows), "\x1e".join(each))) for each, rows in sorted(groups.items())]
    return [(values[0] if len(values) == 1 else values, part) for values, part in parts]
