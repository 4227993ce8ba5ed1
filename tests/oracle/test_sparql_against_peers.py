"""Our answers are those of Oxigraph and of RDFLib, where the specification leaves no choice.

The cases are generated without entailment, without two spellings of one value, and without what SPARQL leaves open.
Where a peer deviates, `DEVIATIONS` says how, who is right, and how such queries are recognised. They are left out.
`ONTOSUB_CASES=100000` runs more cases, `ONTOSUB_SEED=17` the one seed that a failure named.
"""

from __future__ import annotations

import logging
import os
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from sparql_cases import Cases, Compare, Query, cases
from sparql_judge import Failure, same_rows
from sparql_peers import Oxigraph, Peer, RDFLib, Rows
from sparql_terms import Features

from ontosub import Event, Matcher, Subscription
from ontosub.model.errors import LanguageError

FEATURES = Features(plain=True, entailment=False)
CASES = 750
LEFT_OUT_MAX = {"oxigraph": 0.4, "rdflib": 0.8}
"""Which part of the cases a peer may refuse, or not be compared on, before the comparison is worth little."""

PEERS: dict[str, Callable[[], Peer]] = {"oxigraph": Oxigraph, "rdflib": RDFLib}


@dataclass(frozen=True, slots=True)
class Deviation:
    """Where a peer gives other answers than SPARQL."""

    peer: str
    what: str
    right: str
    """What the specification says; sections are those of SPARQL 1.1 Query."""
    recognised: re.Pattern[str]


DEVIATIONS = (
    Deviation(
        "oxigraph",
        "an answer of two alternatives of a path is given once",
        "18.4, Alternative: the union of both, with the cardinalities of both added (18.5, Union)",
        re.compile(r"[^|]\|[^|]"),
    ),
    Deviation(
        "oxigraph",
        "a path of length zero does not start or end at a constant that the data does not have",
        "18.4, Evaluation of ZeroLengthPath: from a term to a variable, one solution, whatever the graph has",
        re.compile(r"""(?:<[^> ]*>|"[^"]*"\S*) \S*\)[?*]\S* |\S*\)[?*]\S* (?:<[^> ]*>|"[^"]*"\S*) """),
    ),
    Deviation(
        "rdflib",
        "GROUP BY of no solutions gives one solution without bindings",
        "18.5.1, Group: no solutions have no keys, so there are no groups",
        re.compile(r"GROUP BY"),
    ),
    Deviation(
        "rdflib",
        "a negated property set gives an answer once for each triple, and inverse ones raise",
        "18.4, NegatedPropertySet: a set of solutions for which a triple exists",
        re.compile(r"![(<^a]"),
    ),
    Deviation(
        "rdflib",
        "paths of any length and optional steps give some answers several times, and inverse ones wrong answers",
        "18.4, ZeroLengthPath, ZeroOrMorePath, OneOrMorePath: sets; 9.3: they introduce no duplicates",
        re.compile(r"\)[*?+]"),
    ),
    Deviation(
        "rdflib",
        "the product of integers is a decimal",
        "17.3, Operator Mapping: op:numeric-multiply of integers is an integer",
        re.compile(r" \* "),
    ),
    Deviation(
        "rdflib",
        "tests of terms take an error or an unbound variable for a value",
        "17.2: functions that are invoked on an error, or on an unbound variable, give an error",
        re.compile(r"sameTerm\(|is[A-Z]+\("),
    ),
    Deviation(
        "rdflib",
        "an expression of SELECT does not see the aggregates before it",
        "16.1.2, SELECT Expressions: a new variable can be used in later expressions of the same clause",
        re.compile(r"AS (\?n\d+)\) .*\1\b.* AS "),
    ),
    Deviation(
        "rdflib",
        "a sub-select sees the variables around it",
        "12, Subqueries: they are evaluated first, and only projected variables are visible to the outer query",
        re.compile(r"\{ SELECT"),
    ),
    Deviation(
        "rdflib",
        "GRAPH with the name of no graph matches the empty group",
        "18.6, Evaluation of Graph: if the IRI is not a graph name, the empty multiset",
        re.compile(r"GRAPH <"),
    ),
    Deviation(
        "rdflib",
        "GRAPH with a variable goes through the default graph as well, and forgets what the variable is bound to",
        "18.6, Evaluation of Graph: the union over the names of graphs, joined with the name",
        re.compile(r"GRAPH \?"),
    ),
)


def deviates(peer: str, query: str) -> bool:
    """Say whether a peer is known to give other answers to such a query."""
    return any(each.peer == peer and each.recognised.search(query) for each in DEVIATIONS)


def seeds() -> range:
    if "ONTOSUB_SEED" in os.environ:
        seed = int(os.environ["ONTOSUB_SEED"])
        return range(seed, seed + 1)
    return range(int(os.environ.get("ONTOSUB_CASES", CASES)) // len(cases(0)))


@pytest.fixture(autouse=True)
def quiet() -> None:
    """RDFLib logs every literal that it cannot convert."""
    logging.getLogger("rdflib").setLevel(logging.CRITICAL)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.timeout(0)
@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_agrees(peer: str) -> None:
    compared: Counter[str] = Counter()
    failures = [
        failure for seed in seeds() for failure in disagreements(peer, cases(seed, features=FEATURES), compared)
    ]
    assert not failures, f"{len(failures)} disagreements, such as\n" + "\n".join(map(str, failures[:5]))
    assert compared["left out"] < LEFT_OUT_MAX[peer] * (compared["left out"] + compared["compared"])


def disagreements(peer: str, drawn: Cases, compared: Counter[str]) -> list[Failure]:
    """Return the cases that the peer answers differently, and count those that are compared."""
    engine, failures = PEERS[peer](), list[Failure]()
    asked = [(query, matcher) for query in drawn.queries if (matcher := matcher_of(query)) is not None]
    for text in drawn.events:
        engine.load(text)
        event = Event.read(text, "application/n-quads", id="e", dataset=True)
        for query, matcher in asked:
            theirs = None if deviates(peer, query.text) else engine.rows(query.text)
            compared["left out" if theirs is None else "compared"] += 1
            if theirs is not None:
                true = answers(query, matcher, event)
                if not same(query, true, theirs):
                    failures.append(Failure(peer, drawn.seed, query.text, text, f"ours {true}\n  theirs {theirs}"))
    return failures


def matcher_of(query: Query) -> Matcher | None:
    """Return a matcher for one query; None when graphs are made, or when we do not take the query."""
    if query.compare is Compare.GRAPH:
        return None
    matcher = Matcher(algorithm="naive")
    try:
        matcher._algorithm.subscribe(Subscription.parse(query.text, "sparql", id="q"))
    except LanguageError:
        return None
    return matcher


def answers(query: Query, matcher: Matcher, event: Event) -> Rows | bool:
    matches = matcher.match(event)
    if query.text.startswith("ASK"):
        return bool(matches)
    return [{name: str(term) for name, term in row.items()} for match in matches for row in match.bindings]


def same(query: Query, true: Rows | bool, theirs: Rows | bool) -> bool:
    if isinstance(true, bool) or isinstance(theirs, bool):
        return true is theirs
    return same_rows(true, theirs, query.compare)
