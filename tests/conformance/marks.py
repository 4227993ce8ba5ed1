"""The cases that do not pass, each with a mark and a spoken reason. A marked case that passes fails the run."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """Why a case does not pass."""

    NOTIMPL = "notimpl"
    """What it tests lies outside of what this version sets out to do."""
    NOTYET = "notyet"
    """What it tests belongs to this version, and is missing."""
    NEVER = "never"
    """What it tests is against the design, on purpose."""


class Mark(NamedTuple):
    """A mark and its reason, a full sentence."""

    kind: Kind
    reason: str


_INCONSISTENT = Mark(
    Kind.NOTIMPL, "Its premise is inconsistent by the value spaces of datatypes; level 1 concludes no inconsistency."
)
_VALUES = Mark(
    Kind.NOTIMPL,
    "Two lexical forms of one value: patterns compare terms, and level 1 has no datatype entailment (a filter with `=` "
    "does compare values).",
)
_CONTAINER = Mark(
    Kind.NOTIMPL, "It follows from RDFS's axiomatic triples on `rdf:_1`, `rdf:_2`, …, which level 1 does not have."
)

MARKS: dict[str, Mark] = {
    "rdf-mt/datatypes-non-well-formed-literal-2": _INCONSISTENT,
    "rdf-mt/datatypes-range-clash": _INCONSISTENT,
    "rdf-mt/datatypes-test010": _INCONSISTENT,
    "rdf-mt/rdfs-entailment-test001": _INCONSISTENT,
    "rdf-mt/rdfs-entailment-test002": _INCONSISTENT,
    "rdf-mt/xmlsch-02-whitespace-facet-2": _INCONSISTENT,
    "rdf-mt/xmlsch-02-whitespace-facet-4": _INCONSISTENT,
    "az-tests/ill-formed-string": _INCONSISTENT,
    "az-tests/langstring-disjoint-string": _INCONSISTENT,
    "az-tests/langstring-not-subclassof-string": _INCONSISTENT,
    "az-tests/inconsistent-recognizing-integer": _INCONSISTENT,
    "az-tests/only-one-property": _INCONSISTENT,
    "az-tests/only-one-class": _INCONSISTENT,
    "rdf-mt/datatypes-semantic-equivalence-within-type-1": _VALUES,
    "rdf-mt/datatypes-semantic-equivalence-within-type-2": _VALUES,
    "rdf-mt/datatypes-semantic-equivalence-between-datatypes": _VALUES,
    "rdf-mt/float-round-same": _VALUES,
    "rdf-mt/float-infinity": _VALUES,
    "rdf-mt/double-round-same": _VALUES,
    "rdf-mt/double-infinity": _VALUES,
    "rdf-mt/rdfms-seq-representation-test002": _CONTAINER,
    "rdf-mt/rdfms-seq-representation-test003": _CONTAINER,
    "rdf-mt/rdfms-seq-representation-test004": _CONTAINER,
    "az-tests/resource-is-literal": Mark(
        Kind.NEVER, "It uses a literal as a class; classes are named, so the axiom is read but concludes nothing."
    ),
    "az-tests/same-as-one": Mark(
        Kind.NOTIMPL,
        "It asks which values two datatypes share, which is outside of level 1. Nor can it be run: its manifest names "
        "`.nt` files where the suite has `.ttl`.",
    ),
    "az-tests/unrecognized-datatype002": Mark(
        Kind.NEVER, "It wants an unrecognised datatype to be no class of its literals; for us every datatype is one."
    ),
}
