"""The papers' algorithms within bounds: who asks too much gets no answer, and takes none from the others."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ontosub import Event, Matcher, Subscription
from ontosub.matching.published.ops.tree import MatchingTree

WIDE = "\n".join(f"<urn:{n}> <urn:p> <urn:o{n}> ." for n in range(200))
STAR = "@prefix : <urn:> . _:H :p " + ", ".join(f":o{n}" for n in range(30)) + " ."
MESH = "@prefix : <urn:> . _:H :p :v0 . " + " ".join(f":v{m} :p :v{n} ." for m in range(12) for n in range(12))

PREFIX = "PREFIX : <urn:>\nPREFIX owl: <http://www.w3.org/2002/07/owl#>\n"
JOIN = "SELECT * { ?a :p ?b . ?c :p ?d . ?e :p ?f }"
RESIDUAL = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c OPTIONAL { ?d ?e ?f . ?g ?h ?i } }"
LONE = "SELECT * { ?a a owl:Thing . ?b a owl:Thing . ?c a owl:Thing }"
ARC = "({}, {}, (owl:Thing, :p, owl:Thing))"
BRANCHES = "\n".join(ARC.format("_:H", f"?x{n}") for n in range(5))
PATHS = "\n".join(ARC.format(f"?x{n}" if n else "_:H", f"?x{n + 1}") for n in range(7))


@pytest.fixture(autouse=True)
def small_budget(monkeypatch):
    """Limits that are met soon."""
    monkeypatch.setattr("ontosub.semantics.budget.Budget.__init__.__defaults__", (20_000, 10_000_000))


@pytest.mark.parametrize(
    ("algorithm", "language", "hostile", "modest", "payload"),
    [
        *(
            (algorithm, "sparql", hostile, "SELECT ?o { <urn:7> :p ?o }", WIDE)
            for algorithm in ("gtopss", "ibroker")
            for hostile in (JOIN, RESIDUAL, LONE)
        ),
        ("ops", "ops", BRANCHES, ARC.format("_:H", ":o7"), STAR),
        ("ops", "ops", PATHS, ARC.format("_:H", ":v0"), MESH),
    ],
)
def test_the_others_have_their_answers(algorithm, language, hostile, modest, payload):
    matcher = Matcher(algorithm=algorithm)
    for name, text in (("before", modest), ("hostile", hostile), ("after", modest)):
        matcher.subscribe(Subscription.parse(PREFIX + text, language, id=name))
    event = Event.read(payload, "text/turtle", id="e")
    for _ in range(2):
        assert [match.subscription_id for match in matcher.match(event)] == ["before", "after"]
        assert matcher.over_budget == {"hostile"}
    matcher.unsubscribe("hostile")
    assert [match.subscription_id for match in matcher.match(event)] == ["before", "after"]
    assert matcher.over_budget == frozenset()


def test_a_tree_that_is_given_up_does_not_grow_any_more(monkeypatch):
    grown = []
    extend = MatchingTree.extend
    monkeypatch.setattr(MatchingTree, "extend", lambda tree, *found: grown.append(tree) or extend(tree, *found))
    matcher = Matcher(algorithm="ops")
    matcher.subscribe(Subscription.parse(PREFIX + PATHS, "ops", id="hostile"))
    assert matcher.match(Event.read(MESH, "text/turtle")) == []
    assert len(grown) < 20_000


def test_a_table_tells_of_who_was_given_up():
    matcher = Matcher(algorithm="ibroker")
    matcher.subscribe(Subscription.parse(PREFIX + JOIN, id="hostile"))
    matcher.subscribe(Subscription.parse(PREFIX + "SELECT ?o { <urn:7> :p ?o }", id="modest"))
    table = pa.table({"event_id": ["e"], "content_type": ["text/turtle"], "payload": [WIDE.encode()]})
    found = matcher.match_batch(table)
    assert found.matches["subscription_id"].to_pylist() == ["modest"]
    assert found.rejects["reason"].to_pylist() == [
        "over budget for the subscriptions hostile: the others have their answers"
    ]
