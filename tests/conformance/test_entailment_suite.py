"""W3C RDF and RDFS entailment tests: premise as ontology and event, conclusion as pattern."""

from __future__ import annotations

import pytest

from conformance.manifests import ENTAILMENT, Case
from conformance.parameters import check, parameters


@pytest.mark.parametrize("case", parameters(ENTAILMENT))
def test_entailment(case: Case) -> None:
    check(case)
