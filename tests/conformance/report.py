"""The conformance report, made from a run: `cd tests && python -m conformance.report` writes docs/CONFORMANCE.md."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby

from conformance.manifests import ENTAILMENT, REPOSITORY, SPARQL, SUITES, Case, cases
from conformance.marks import MARKS, Kind, Mark
from conformance.runs import fault

PATH = REPOSITORY / "docs" / "CONFORMANCE.md"

_HEAD = """\
# Conformance

<!-- Generated from a run: cd tests && python -m conformance.report -->

What outside test suites say about Ontosub. The suites are not part of the project: the tests look for them where the
environment variable `ONTOSUB_SUITES` points, else in `../shared/suites`, and are skipped, saying so, when there is
nothing there. A test that does not pass carries one of three marks, and a marked test that passes fails the run:

- `notimpl`: what it tests lies outside of what this version sets out to do;
- `notyet`: what it tests belongs to this version, and is missing;
- `never`: what it tests is against the design, on purpose.
"""

_SUITES = {
    SPARQL: """\
## SPARQL queries

W3C `sparql10`. The data is read as an event, the query is a subscription, and the bindings (or the constructed graph)
are compared with the expected ones: as multisets, blank nodes up to renaming. The ontology is empty, the matcher naive.
""",
    ENTAILMENT: """\
## RDF and RDFS entailment

W3C `rdf-mt`. The premise is both the ontology and the event (schema statements inside an event are plain data); the
conclusion is a basic graph pattern, with its blank nodes as variables, that must or must not match. Ontosub reasons at
level 1 (subClassOf, subPropertyOf, equivalence, inverse, symmetric, transitive, domain, range), where nothing is
inconsistent. So of the tests that ask whether a premise is inconsistent, those that expect "no" only show that it is
accepted and matches itself, and those that expect "yes" are marked.
""",
}

_UNMARKED = Mark(Kind.NOTYET, "**Not marked.**")


def report() -> str:
    """Run every case and return the report."""
    return "\n".join([_HEAD, *("\n".join(_section(suite)) for suite in _SUITES)])


def _section(suite: str) -> Iterator[str]:
    found = cases(suite)
    failed = [case for case in found if fault(case) is not None]
    yield _SUITES[suite]
    yield "| folder | passed | of |\n|---|---:|---:|"
    for folder, members in groupby(found, key=lambda case: case.folder):
        yield _count(f"`{folder}`", list(members))
    yield _count("**all**", found) + "\n"
    if failed:
        yield "| not passed | mark | reason |\n|---|---|---|"
        yield "\n".join(_row(case) for case in failed) + "\n"


def _count(name: str, members: Sequence[Case]) -> str:
    return f"| {name} | {sum(fault(case) is None for case in members)} | {len(members)} |"


def _row(case: Case) -> str:
    mark = MARKS.get(case.id, _UNMARKED)
    return f"| `{case.id}` | {mark.kind} | {mark.reason} |"


def main() -> None:
    """Write the report, or leave the file alone when there is no suite to run."""
    if not all(cases(suite) for suite in _SUITES):
        sys.exit(f"no suites in {SUITES}: set ONTOSUB_SUITES to the folder that has them")
    PATH.write_text(report(), encoding="utf-8")
    print(f"wrote {PATH.relative_to(REPOSITORY)}")


if __name__ == "__main__":
    main()
