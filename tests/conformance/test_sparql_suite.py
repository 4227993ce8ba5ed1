"""W3C SPARQL query tests: data as event, query as subscription, bindings compared with the expected ones."""

from __future__ import annotations

import pytest

from conformance.manifests import SPARQL, Case
from conformance.parameters import check, parameters


@pytest.mark.parametrize("case", parameters(SPARQL))
def test_sparql(case: Case) -> None:
    check(case)
