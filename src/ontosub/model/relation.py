"""The thirteen relations of Allen between two intervals.

Allen's intervals have a length; ours may be instants. So that exactly one relation holds of any two intervals, shared
ends count first: an instant at the start of an interval *starts* it, and does not *meet* it.
"""

from __future__ import annotations

from enum import StrEnum


class Relation(StrEnum):
    """How one interval lies to another. The value is how it is written."""

    BEFORE = "before"
    MEETS = "meets"
    OVERLAPS = "overlaps"
    STARTS = "starts"
    DURING = "during"
    FINISHES = "finishes"
    EQUALS = "equals"
    FINISHED_BY = "finished by"
    INCLUDES = "includes"
    STARTED_BY = "started by"
    OVERLAPPED_BY = "overlapped by"
    MET_BY = "met by"
    AFTER = "after"

    @property
    def inverse(self) -> Relation:
        """The relation of the second interval to the first."""
        members = list(Relation)
        return members[len(members) - 1 - members.index(self)]


def relation_of(start: int, end: int, other_start: int, other_end: int) -> Relation:
    """Return how the interval [start, end] lies to the other; moments are numbers.

    >>> relation_of(1, 1, 1, 5).value, relation_of(1, 3, 3, 5).value
    ('starts', 'meets')
    """
    if start == other_start:
        if end == other_end:
            return Relation.EQUALS
        return Relation.STARTS if end < other_end else Relation.STARTED_BY
    if end == other_end:
        return Relation.FINISHES if start > other_start else Relation.FINISHED_BY
    if start < other_start:
        return Relation.INCLUDES if end > other_end else _earlier(end, other_start)
    return Relation.DURING if end < other_end else _earlier(other_end, start).inverse


def _earlier(end: int, other_start: int) -> Relation:
    """Return the relation of an interval that both starts and ends first."""
    if end == other_start:
        return Relation.MEETS
    return Relation.BEFORE if end < other_start else Relation.OVERLAPS
