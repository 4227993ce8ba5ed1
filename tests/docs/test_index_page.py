"""The page about the index says what is true: its example, its files, its columns and its numbers."""

import re
from pathlib import Path

import numpy as np
import pytest

from ontosub import Event, Matcher, Ontology, Subscription
from ontosub.languages.sparql.alternatives import ALTERNATIVES_MAX
from ontosub.matching import adaptive, limits
from ontosub.matching.algorithm import COSTS
from ontosub.matching.compiled import algorithm
from ontosub.matching.compiled.events import entail, literals
from ontosub.matching.compiled.index import conditions, index
from ontosub.matching.compiled.index.costs import leaves
from ontosub.matching.compiled.index.layout import CLASS, ENDS, HOW, KIND_MASK, PARENT, PROPERTY, SOURCE_MASK
from ontosub.matching.compiled.index.part import ROWS_MAX, Part
from ontosub.matching.compiled.index.plan import ANY, FORWARD
from ontosub.model import expression
from ontosub.semantics import budget

PAGE = (Path(__file__).parents[2] / "docs" / "INDEX.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(.*)\n((?:.*\n)*?)```$", PAGE, re.M)
TREE, FILES, SHARES = (text for kind, text in BLOCKS if kind == "text")
PREFIX = "PREFIX : <http://example.org/auction#>\n"

pytestmark = pytest.mark.filterwarnings("ignore::ontosub.OntosubWarning")


@pytest.fixture
def matcher() -> Matcher:
    """The two subscriptions of the example, under an ontology that says what the text says."""
    computers = "@prefix : <http://example.org/auction#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    ontology = Ontology.read(computers + ":Notebook rdfs:subClassOf :Computer .", format="turtle")
    matcher = Matcher(ontology, algorithm="compiled")
    for name in ("cheap", "caller"):
        matcher.subscribe(Subscription.parse(dict(BLOCKS)[f"sparql {name}"], id=name))
    return matcher


def the_event() -> Event:
    return Event.read(dict(BLOCKS)["turtle"], "turtle", id="lot 7")


def the_part(matcher: Matcher) -> Part:
    """Return the only part of a matcher's index."""
    inner = matcher._algorithm._index
    inner.flush()
    [part] = inner.parts
    return part


def name(iri: str) -> str:
    return ":" + iri.rpartition("#")[2]


def tree(matcher: Matcher) -> str:
    """Return the trie as the page draws it; it must have one run per node, and no checks."""
    part, concepts = the_part(matcher), matcher._algorithm._index.concepts
    nodes, classes = part.segment.nodes, concepts.export()["classes"]
    ends = dict(zip(leaves(part.segment).tolist(), part.segment.entries[:, 0].tolist(), strict=True))
    depth, lines = {0: -1}, []

    def draw(parent: int) -> None:
        for node in np.flatnonzero(nodes[:, PARENT] == parent).tolist():
            row = nodes[node]
            depth[node] = depth[parent] + 1
            move = {ANY: "any vertex", FORWARD: f"from {row[ENDS] & SOURCE_MASK} along "}[row[HOW] & KIND_MASK]
            if move.endswith(" "):
                move += name(concepts.property_at(row[PROPERTY]).value)
            asked = f", a {name(classes[row[CLASS]])}" if row[CLASS] >= 0 else ""
            found = f" → {part.holding[int(part.subscription_of[ends[node]])].id}" if node in ends else ""
            lines.append(f"{'   ' * depth[node]}{depth[node]}: {move}{asked}{found}\n")
            draw(node)

    draw(0)
    return "".join(lines)


def test_the_trie_is_the_one_that_is_drawn(matcher: Matcher):
    assert tree(matcher) == TREE


def test_the_event_matches_in_nine_steps_shared_as_shown(matcher: Matcher):
    assert matcher.match_ids(the_event()) == ["cheap", "caller"]
    assert matcher._algorithm.visits == 9
    stats = matcher.stats()
    assert "".join(f"{row['subscription_id']} {row['visits']}\n" for row in stats.to_pylist()) == SHARES


def test_five_steps_tell_that_nothing_begins_so(matcher: Matcher):
    other = Event("other", frozenset(triple for triple in the_event().graph if "Selling" not in str(triple)))
    assert matcher.match_ids(other) == []
    assert matcher._algorithm.visits == 5


def test_another_threshold_adds_no_node_and_another_class_a_sibling(matcher: Matcher):
    before = len(the_part(matcher).segment.nodes)
    text = dict(BLOCKS)["sparql cheap"].replace("400", "300")
    matcher.subscribe(Subscription.parse(text, id="cheaper"))
    matcher.merge()
    assert len(the_part(matcher).segment.nodes) == before
    matcher.subscribe(Subscription.parse(text.replace(":Computer", ":Notebook"), id="notebooks"))
    matcher.merge()
    assert the_part(matcher).segment.nodes[2, HOW] >> 8 == 2


def test_the_files_are_those_that_are_listed(matcher: Matcher, tmp_path: Path):
    matcher.subscribe(Subscription.parse(PREFIX + "SELECT ?x { ?x :note ?y }", id="third"))
    matcher.match_ids(the_event())
    matcher.save(tmp_path / "auction.index")
    matcher.unsubscribe("third")
    matcher.subscribe(Subscription.parse(PREFIX + "SELECT ?x { ?x :buyer :anna FILTER ISIRI(?x) }", id="fourth"))
    matcher.save(tmp_path / "auction.index")
    there = {str(path.relative_to(tmp_path / "auction.index")) for path in tmp_path.rglob("*") if path.is_file()}
    listed = {line.split()[0] for line in FILES.splitlines()[1:]}
    assert {re.sub(r"\d{12}", "…", file) for file in listed} == {re.sub(r"\d{12}", "…", file) for file in there}


def test_every_column_of_the_costs_is_described():
    section = PAGE[PAGE.index("## Costs") :]
    assert re.findall(r"^\| `(\w+)` \|", section, re.M) == COSTS.names


@pytest.mark.parametrize(
    "number",
    [
        adaptive.NAIVE_SUBSCRIPTIONS,
        adaptive.NAIVE_WORK,
        adaptive.NAIVE_WORK // 10,
        algorithm.BUDGET,
        algorithm.BUDGET // algorithm.STEPS_OF_PYTHON,
        ROWS_MAX,
        budget.STEPS_MAX,
        budget.BYTES_MAX,
        conditions.WAYS_MAX,
        ALTERNATIVES_MAX,
        index.MERGED_AT_ONCE,
        index.PARTS_MAX,
        limits.SIZE_MAX,
        expression.DEPTH_MAX,
        entail.ARCS_MAX,
        literals.DIGITS_MAX,
    ],
)
def test_numbers_are_what_the_page_says(number: int):
    assert re.search(rf"(?<![\d,]){number:,}(?![\d,])", PAGE)


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("?x = :iri", False),
        ('?x = "text"', False),
        ("SAMETERM(?x, 5)", False),
        ("?x < 5", False),
        ('?x >= "2024-01-01"^^<http://www.w3.org/2001/XMLSchema#date>', False),
        ("?x = true", False),
        ("?x IN (1, 2)", False),
        ("?x = :a || ?x = :b", False),
        ('CONTAINS(LCASE(STR(?x)), "a")', False),
        ('REGEX(?x, "a")', False),
        ('LCASE(?x) = "a"', False),
        ("DATATYPE(?x) = <http://www.w3.org/2001/XMLSchema#date>", False),
        ('LANGMATCHES(LANG(?x), "en")', False),
        ('STRSTARTS(?x, "a") || STRENDS(?x, "b")', False),
        ("ISIRI(?x)", False),
        ("?x < ?y", False),
        ("?x != ?y", False),
        ("?x != :iri", False),
        ("?x != 5", False),
        ("?x NOT IN (:a, :b)", False),
        ("?x + 1 < 5", True),
        ("STRLEN(?x) < 5", True),
        ('!CONTAINS(?x, "a")', True),
    ],
)
def test_what_is_left_to_python_is_what_the_page_says(condition: str, left: bool):
    subscription = Subscription.parse(PREFIX + f"SELECT * {{ ?s :p ?x ; :q ?y FILTER ({condition}) }}", id="s")
    [pattern] = subscription.patterns
    matcher = Matcher(algorithm="compiled")
    ways = conditions.ways_of(pattern.filters, frozenset(pattern.projected), matcher._algorithm._index.atoms.number)
    assert any(way.left for way in ways) is left


@pytest.mark.parametrize(
    ("query", "decides"),
    [
        ("SELECT * { ?s a :A OPTIONAL { ?s :p ?x } }", True),
        ("SELECT ?y { ?s :p ?x BIND (?x * 2 AS ?y) }", True),
        ("SELECT ?s { ?s :p ?x } ORDER BY ?x", True),
        ("SELECT ?s { ?s a :A MINUS { ?s :p ?x } }", False),
        ("SELECT * { ?s a :A OPTIONAL { ?s :p ?x } FILTER (BOUND(?x)) }", False),
    ],
)
def test_the_core_decides_where_the_page_says_so(query: str, decides: bool):
    subscription = Subscription.parse(PREFIX + query, id="s")
    assert subscription.residual is not None
    assert subscription.core_decides is decides
