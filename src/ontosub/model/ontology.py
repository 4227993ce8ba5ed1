"""Ontologies: the concept model that events and subscriptions share.

An `Ontology` is what was said, sorted: hierarchies as stated, characteristics of properties, meta-statements, and
background facts. What follows from it is computed in `ontosub.semantics`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ontosub.model import readers
from ontosub.model.errors import Diagnostic
from ontosub.model.terms import NamedNode, Triple

Pair = tuple[NamedNode, NamedNode]


class MetaStatement(NamedTuple):
    """OPS's (subject class, property, object class): which properties a class may have, and with what values."""

    subject_class: NamedNode
    property: NamedNode
    object_class: NamedNode


@dataclass(frozen=True, slots=True)
class Ontology:
    """A concept model: classes, properties, how they relate, and the background facts.

    `subclasses` and `subproperties` hold the stated pairs (narrower, wider); an equivalence is a pair in each
    direction, and also one of the `equivalences`. `inverses` holds pairs as stated. Build one with `Ontology.read`.
    """

    classes: frozenset[NamedNode] = frozenset()
    properties: frozenset[NamedNode] = frozenset()
    subclasses: frozenset[Pair] = frozenset()
    subproperties: frozenset[Pair] = frozenset()
    equivalences: frozenset[Pair] = frozenset()
    inverses: frozenset[Pair] = frozenset()
    symmetric: frozenset[NamedNode] = frozenset()
    transitive: frozenset[NamedNode] = frozenset()
    domains: frozenset[Pair] = frozenset()
    ranges: frozenset[Pair] = frozenset()
    meta_statements: frozenset[MetaStatement] = frozenset()
    background: frozenset[Triple] = frozenset()
    missing_imports: frozenset[str] = frozenset()

    @classmethod
    def read(cls, *sources: str | bytes | Path, format: str | None = None, base: str | None = None) -> Ontology:
        """Read RDFS, OWL or DAML+OIL from files, or from data when `format` is given.

        Without `format` each source is a path and its extension names the RDF syntax; with it each source is the data
        itself. Several sources make one ontology. `owl:imports` is resolved among them and never fetched: an import
        that is not among them is an OntosubWarning, and `check` lists it. No source gives the empty ontology.
        """
        return readers.get("ontology.read")(*sources, format=format, base=base)  # type: ignore[no-any-return]

    def check(self) -> list[Diagnostic]:
        """List what is doubtful: cycles, undeclared terms, background facts outside the meta-statements."""
        return readers.get("ontology.check")(self)  # type: ignore[no-any-return]
