"""Cases as pytest parameters: the marked ones must fail, and without suites there is one skip that says so."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.manifests import SUITES, Case, cases
from conformance.marks import MARKS
from conformance.runs import fault


class NotPassed(Exception):
    """A case did not pass."""


def parameters(suite: str) -> list[Any]:
    """Return one parameter per case of the suite, named by its id."""
    found = [pytest.param(case, id=case.id, marks=_expectation(case)) for case in cases(suite)]
    absent = f"conformance not tested: no suite {suite} in {SUITES}; set ONTOSUB_SUITES to the folder that has it"
    return found or [pytest.param(None, id="absent", marks=pytest.mark.skip(reason=absent))]


def check(case: Case) -> None:
    """Raise NotPassed, with the reason, unless the case passes."""
    found = fault(case)
    if found is not None:
        raise NotPassed(found)


def _expectation(case: Case) -> tuple[pytest.MarkDecorator, ...]:
    mark = MARKS.get(case.id)
    return (
        ()
        if mark is None
        else (pytest.mark.xfail(reason=f"{mark.kind}: {mark.reason}", raises=NotPassed, strict=True),)
    )
