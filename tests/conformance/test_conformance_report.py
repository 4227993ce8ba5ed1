"""The committed report is what the run gives, and every mark is about a case."""

from __future__ import annotations

import pytest

from conformance.manifests import ENTAILMENT, SPARQL, SUITES, cases
from conformance.marks import MARKS
from conformance.report import PATH, report

pytestmark = pytest.mark.skipif(
    not (cases(SPARQL) and cases(ENTAILMENT)),
    reason=f"conformance not tested: no suites in {SUITES}; set ONTOSUB_SUITES to the folder that has them",
)


def test_every_mark_is_about_a_case() -> None:
    assert MARKS.keys() <= {case.id for suite in (SPARQL, ENTAILMENT) for case in cases(suite)}


def test_case_ids_are_unique() -> None:
    ids = [case.id for suite in (SPARQL, ENTAILMENT) for case in cases(suite)]
    assert len(ids) == len(set(ids))


def test_the_committed_report_is_what_the_run_gives() -> None:
    assert PATH.read_text(encoding="utf-8") == report(), "run: cd tests && ../.venv/bin/python -m conformance.report"
