"""Reading from a template gives what reading in full gives, errors included."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_sparql_texts import Texts

from ontosub.languages import sparql
from ontosub.languages.sparql.cache import Cache, read_in_full
from ontosub.model import Subscription
from ontosub.model.errors import OntosubError

PREFIXES = {
    "": "http://e/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "x": "http://www.w3.org/2001/XMLSchema#",
}


def outcome(read: Callable[..., Subscription], text: str) -> tuple[object, str]:
    """Return what comes of a text, and how it is shown: that tells positions, too, which equality leaves out."""
    try:
        subscription = read(text, "x", PREFIXES)
    except OntosubError as error:
        return type(error), str(error)
    return subscription, repr(subscription)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(0, 2**32), min_size=3, max_size=6))
def test_a_cache_changes_nothing(structure: int, constants: list[int]) -> None:
    cache = Cache()
    for seed in constants:
        text = Texts(Random(structure), Random(seed), doubtful=True).query()
        assert outcome(cache.subscription, text) == outcome(read_in_full, text)


KINDS = {
    "numbers": ("ASK {{ ?x :p {} , {} FILTER(?x < {}) }}", ["1", "2.5", "007", "1e0", "1.", "1e"]),
    "signed numbers": ("ASK {{ ?x :p ?y FILTER(?y {} = {}) }}", ["-1", "+1", "-.5", "- 1", "+2e7"]),
    "strings": (
        "ASK {{ ?x :p {} , {} }}",
        ["'a'", '"a"', "'''a\n'''", r"'\u0061'", r"'\q'", "'a'@en", "'", r"'\uD800'"],
    ),
    "types": ("ASK {{ ?x :p {}^^x:int , '1'^^{} }}", ["'1'", "'a'", "x:int", "x:date", "x:other", "rdf:langString"]),
    "vertices": ("SELECT * {{ {} {} {} ; {} ?y . {} a {} }}", [":a", ":b", ":c", "rdf:type", "no:a"]),
    "classes": ("ASK {{ ?x a {} . {} :p ?x . ?x {} {} }}", [":C", ":D", "rdf:type", "<http://e/C>", "a"]),
    "functions": ("ASK {{ ?x :p ?y FILTER({}(?y) = {}) }}", ["x:integer", "x:string", "STR", ":f", "1"]),
    "patterns": ("ASK {{ ?x :p ?y FILTER REGEX(?y, {}, {}) }}", ["'a'", "'(a'", "'i'", "'q'", "?x", "true", "'z'"]),
    "replacements": ("ASK {{ ?x :p ?y FILTER(REPLACE(?y, {}, {}) = {}) }}", ["'a'", "'(a'", "'b'", "'(?=a)'"]),
    "counts": ("SELECT ?x {{ ?x :p {} }} LIMIT {}", ["1", "2", "3", "1.5", "-1"]),
    "separators": ("SELECT (GROUP_CONCAT(?y; SEPARATOR={}) AS ?z) {{ ?x :p ?y , {} }}", ["','", "';'", r"'\n'", "1"]),
    "declarations": ("PREFIX q: {} ASK {{ ?x q:p q:a ; :q {} }}", ["<http://q/>", "<http://r/>", "<s>", ":a"]),
    "residual": ("SELECT ?x {{ ?x :p {} OPTIONAL {{ ?x :q {} }} }}", [":a", "1", "'<urn:a>'", r"'\"'", r"'\\1'"]),
    "paths": ("ASK {{ ?x {}/^{} {} . ?x !({}|^{}) {} }}", [":p", ":q", "rdf:type", "'a'", "a"]),
    "templates": ("CONSTRUCT {{ ?x {} {} . {} :p ?x }} {{ ?x :p ?y }}", [":a", "rdf:type", "1", "'a'"]),
    "comments": ("ASK {{ ?x :p {} }} # {}", ["1", "2", "\ud800"]),
    "the mark": (
        "ASK {{ ?x :p {} , {} }}",
        ["'ontosub-slot-0'", "<urn:ontosub-slot-1>", r"'ontosub\u002dslot-1'", "1"],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_constants_of_all_kinds(kind: str) -> None:
    template, constants = KINDS[kind]
    cache, random = Cache(), Random(0)
    for _ in range(150):
        text = template.format(*(random.choice(constants) for _ in range(template.count("{}"))))
        assert outcome(cache.subscription, text) == outcome(read_in_full, text)
    assert cache.hits > 0


def test_similar_texts_share_a_template_from_the_third_on() -> None:
    cache = Cache()
    for number in range(10):
        cache.subscription(f"ASK {{ ?x <urn:p{number}> '{number}' ; <urn:q> {number} }}", "x")
    assert cache.hits == 8


def test_constants_that_become_equal_are_one_vertex() -> None:
    cache = Cache()
    read = [
        cache.subscription(f"ASK {{ :a :p :b . :c :p {name} }}", "x", PREFIXES) for name in (":d", ":e", ":a", ":c")
    ]
    assert [len(each.patterns[0].vertices) for each in read] == [4, 4, 3, 3]
    assert cache.hits == 2


def test_the_cache_is_bounded_and_forgets_what_was_not_used() -> None:
    cache = Cache(capacity=2)
    kept, others = "ASK {{ ?kept a <urn:{}> }}", "ASK {{ ?x{} a <urn:C> }}"
    for number in range(20):
        cache.subscription(kept.format(number), "x")
        cache.subscription(others.format(number), "x")
    assert cache.hits == 18


def test_other_prefixes_are_another_template() -> None:
    cache = Cache()
    spaces = ["http://a/", "http://b/"] * 3
    read = [cache.subscription("ASK { ?x a :C }", "x", {"": space}).patterns[0].vertices[0] for space in spaces]
    assert [[each.value for each in vertex.classes] for vertex in read] == [[f"{space}C"] for space in spaces]


def test_the_text_and_the_id_are_those_of_the_instance() -> None:
    texts = [f"ASK {{ ?x a <urn:{number}> }}" for number in range(4)]
    read = [sparql.parse(text, id=f"id{number}") for number, text in enumerate(texts)]
    assert [(each.id, each.text, each.language) for each in read] == [
        (f"id{number}", text, "sparql") for number, text in enumerate(texts)
    ]
