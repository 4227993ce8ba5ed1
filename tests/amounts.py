"""How much a test tries: `make test` tries less than `make test-full`, and than a test that is run by itself."""

from __future__ import annotations

_quick = False


def hurry(markers: str) -> None:
    """Try less from now on if pytest is to leave out the slow proofs, as its option `-m` says."""
    global _quick
    _quick = markers == "not full"


def at_most(full: int, *, quick: int) -> int:
    """Return how many examples to try, events to publish, and the like.

    >>> at_most(300, quick=100) in (100, 300)
    True
    """
    return quick if _quick else full
