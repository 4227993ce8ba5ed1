"""The pages about the languages say what is true: their examples are read, and have the answers that they show."""

import contextlib
import io
import re
from itertools import pairwise
from pathlib import Path

import pytest

from ontosub import Event, Matcher, Ontology, Subscription
from ontosub.cli.results import answer_text
from ontosub.languages import mdv
from ontosub.languages.sparql import core, tokens
from ontosub.model.errors import LanguageError

FOLDER = Path(__file__).parents[2] / "docs" / "languages"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
PREFIX = "PREFIX : <http://example.org/auction#>\n"


def blocks(page: str) -> list[tuple[str, str]]:
    """Return the blocks of code of a page, each with what it is marked as."""
    return re.findall(r"^```(.*)\n((?:.*\n)*?)```$", PAGES[page], re.M)


def queries(language: str) -> list[tuple[str, str]]:
    """Return the subscriptions that the page of a language shows, each with the answers that follow it."""
    relevant = [block for block in blocks(language.upper()) if block[0] in (language, "text")]
    return [
        (text, answers)
        for (kind, text), (next_kind, answers) in pairwise(relevant)
        if (kind, next_kind) == (language, "text")
    ]


def answers(page: str, subscription: Subscription) -> str:
    """Return the answers on the page's event, as the page shows them."""
    shown = dict(blocks(page))
    matcher = Matcher(Ontology.read(shown["turtle ontology"], format="turtle"))
    matcher.subscribe(subscription)
    matches = matcher.match(Event.read(shown["turtle event"], "turtle"))
    lines = sorted(answer_text(answer) for match in matches for answer in match.bindings)
    return "".join(f"{line}\n" for line in lines) or "no match\n"


def test_every_language_has_a_page():
    assert PAGES.keys() == {"SPARQL", "OPS", "MDV"}


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [(language, *shown) for language in ("sparql", "ops") for shown in queries(language)],
)
@pytest.mark.filterwarnings("ignore::ontosub.OntosubWarning")
def test_a_subscription_has_the_answers_that_are_shown(language: str, text: str, expected: str):
    assert answers(language.upper(), Subscription.parse(text, language, id="s")) == expected


def test_the_pages_show_subscriptions():
    assert len(queries("sparql")) >= 5
    assert len(queries("ops")) >= 3


@pytest.mark.parametrize("page", ["SPARQL", "OPS"])
def test_the_python_prints_what_is_shown(page: str):
    shown = blocks(page)
    [(code, expected)] = [
        (text, output) for (kind, text), (below, output) in pairwise(shown) if (kind, below) == ("python", "text")
    ]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, page, "exec"), {})
    assert printed.getvalue() == expected


@pytest.mark.filterwarnings("ignore::ontosub.OntosubWarning")
def test_the_explanation_is_the_one_that_is_shown():
    shown = dict(blocks("SPARQL"))
    matcher = Matcher(Ontology.read(shown["turtle ontology"], format="turtle"))
    matcher.subscribe(Subscription.parse(shown["sparql explained"], id="s"))
    explanation = matcher.explain(Event.read(shown["turtle event"], "turtle", id="e"), "s")
    assert f"{explanation}\n" == shown["text explanation"]


def test_the_rule_of_the_page_about_mdv_is_one():
    _, text = blocks("MDV")[0]
    rule = mdv.parse(text, id="passau")
    assert len(rule.patterns) == 2
    assert mdv.print_rule(mdv.parse_tree(mdv.print_rule(mdv.parse_tree(text)))) == mdv.print_rule(mdv.parse_tree(text))


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str):
    for target, anchor in re.findall(r"\]\(([^)#]+)(#[^)]*)?\)", PAGES[page]):
        path = FOLDER / target
        assert path.exists(), f"{page} links to {target}"
        headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
        assert not anchor or anchor[1:] in {heading.lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "limit", [tokens.TEXT_MAX, tokens.TOKENS_MAX, tokens.DEPTH_MAX, core.JOINED_MAX, core.OPERATORS_MAX]
)
def test_limits_are_what_the_page_says(limit: int):
    section = PAGES["SPARQL"][PAGES["SPARQL"].index("## Limits") :]
    assert re.search(rf"(?<![\d,]){limit:,}(?![\d,])", section)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM <urn:g> { ?s ?p ?o }",
        "SELECT * { SERVICE <urn:s> { ?s ?p ?o } }",
        "INSERT DATA { <urn:a> <urn:b> 1 }",
        "SELECT ?nowhere { ?s ?p ?o }",
        "SELECT (<urn:function>(?s) AS ?made) { ?s ?p ?o }",
        "SELECT * { ?s ?p ?o FILTER REGEX(?o, '(?=a)') }",
        "SELECT * { <<( <urn:a> <urn:b> 1 )>> ?p ?o }",
    ],
)
def test_what_the_page_about_sparql_says_is_refused_is_refused(text: str):
    with pytest.raises(LanguageError):
        Matcher().subscribe(Subscription.parse(text, id="s"))


@pytest.mark.filterwarnings("ignore::ontosub.OntosubWarning")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT ?s { ?s :price 350 }", "no match"),
        ("SELECT ?s { ?s :price 350.00 }", "?s = <lot7>"),
        ("SELECT * {}", ""),
        ("SELECT ?n { OPTIONAL { ?s :note ?n } }", ""),
        ("SELECT (COUNT(?s) AS ?n) { ?s :note ?x }", "?n = 0"),
        ("ASK { :pc :ram ?x . ?x a <http://www.w3.org/2001/XMLSchema#decimal> }", ""),
        ("ASK { :pc a <http://www.w3.org/2002/07/owl#Thing> }", ""),
        ("SELECT ?x { ?x :item :pc ; :item ?y . ?x :item ?z }", "?x = <lot7>"),
    ],
)
def test_what_the_page_about_sparql_says_of_matches_is_true(text: str, expected: str):
    assert answers("SPARQL", Subscription.parse(PREFIX + text, id="s")) == f"{expected}\n"


@pytest.mark.parametrize("operator", ["<", ">=", "=", "!="])
def test_a_literal_without_a_value_satisfies_no_comparison(operator: str):
    event = Event.read('<urn:a> <urn:p> "abc"^^<http://www.w3.org/2001/XMLSchema#integer> .', "turtle")
    matcher = Matcher()
    matcher.subscribe(Subscription.parse(f"ASK {{ ?s <urn:p> ?o FILTER (?o {operator} 5) }}", id="value"))
    matcher.subscribe(Subscription.parse('ASK { ?s <urn:p> ?o FILTER (STR(?o) = "abc") }', id="text"))
    assert [match.subscription_id for match in matcher.match(event)] == ["text"]
