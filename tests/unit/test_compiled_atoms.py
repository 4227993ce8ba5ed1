"""Atoms hold where `holds` says so of their expression, however they came in and wherever a term's text lies."""

import json
import random
from types import SimpleNamespace

import numpy as np
import pytest
import re2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import BaseDirection

from ontosub.matching.compiled.atoms import kinds, regexes
from ontosub.matching.compiled.atoms.atoms import Atoms
from ontosub.matching.compiled.atoms.bodies import Texts, read_bodies
from ontosub.matching.compiled.atoms.regexes import Regexes, regex_of
from ontosub.matching.compiled.atoms.tiers import Tiers
from ontosub.matching.compiled.atoms.unary import NEEDLE_BYTES_MAX
from ontosub.matching.compiled.events import literals
from ontosub.matching.compiled.events.dictionary import Dictionary
from ontosub.matching.compiled.events.graph import OWN_KIND, TERM, VERTEX_COLUMNS
from ontosub.model.expression import Call, Function
from ontosub.model.terms import RDF, XSD, BlankNode, Literal, NamedNode, Triple, Variable
from ontosub.semantics.expressions import holds

# One worker compiles the kernels for all of these tests.
pytestmark = pytest.mark.xdist_group("compiled")

X, Y = Variable("x"), Variable("y")
quick = settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def call(function: Function, *arguments) -> Call:
    return Call(function, arguments)


def contains(needle: str, whole=X) -> Call:
    return call(Function.CONTAINS, whole, Literal(needle))


# Terms, and where their texts lie.


def form_of(term) -> str:
    return f"<<( {term} )>>" if isinstance(term, Triple) else str(term)


def own_kind(form: str) -> int:
    data = np.frombuffer(form.encode(), np.uint8)
    return literals.value_of(data, 0, len(data))[0] if form.startswith('"') else literals.NO_VALUE


def texts_of(forms: list[str], known=()) -> Texts:
    """Return texts as an event has them; those of the vertices in `known` lie in the dictionary."""
    dictionary = Dictionary()
    dictionary.number(["<urn:first>"])
    vertices = np.zeros((len(forms), VERTEX_COLUMNS), np.int32)
    starts, ends = np.full(len(forms), -1, np.int64), np.full(len(forms), -1, np.int64)
    data = b"<urn:other> "
    for vertex, form in enumerate(forms):
        vertices[vertex, OWN_KIND] = own_kind(form)
        if vertex in known:
            vertices[vertex, TERM] = dictionary.number([form])[0]
        else:
            vertices[vertex, TERM] = -1
            starts[vertex] = len(data)
            data += form.encode() + b" "
            ends[vertex] = len(data) - 1
    return Texts(np.frombuffer(data, np.uint8), starts, ends, vertices, dictionary.text, dictionary.offsets)


def held(atoms: Atoms, terms, known=()) -> list[list[int]]:
    starts, found = atoms.held(texts_of([form_of(term) for term in terms], known))
    assert starts.dtype == found.dtype == np.int32
    assert len(starts) == len(terms) + 1
    return [found[starts[i] : starts[i + 1]].tolist() for i in range(len(terms))]


def expected(expressions: dict[int, Call], terms) -> list[list[int]]:
    return [[number for number, asked in sorted(expressions.items()) if holds(asked, {X: term})] for term in terms]


# Generated terms and atoms: few characters, so that they often meet.

characters = 'aAb1-:/ "\\\n\r\t\x00\x7fµßéÉİſΣ𝔸'
small_texts = st.text(st.sampled_from(characters), max_size=8)
languages = st.sampled_from(["en", "en-us", "EN-GB", "eng", "de-latn-de"])
datatypes = st.sampled_from(
    [XSD[name] for name in ("string", "integer", "decimal", "double", "float", "boolean", "byte", "date", "token")]
)
numerals = st.sampled_from(
    ["1", "-1.5", " 7 ", "1e3", "INF", "NaN", "1234567890123456789", "300", "", "true", "2020-01-01"]
)
plain = st.builds(Literal, small_texts)
tagged = st.builds(Literal, small_texts, language=languages)
directed = st.builds(
    Literal, small_texts, language=languages, direction=st.sampled_from([BaseDirection.LTR, BaseDirection.RTL])
)
typed = st.builds(Literal, st.one_of(small_texts, numerals), datatype=datatypes)
foreign = st.builds(Literal, small_texts, datatype=st.sampled_from([NamedNode("urn:a:b"), NamedNode("urn:µ")]))
iris = st.text(st.sampled_from("aAb1-:/µßİ"), max_size=6).map(lambda text: NamedNode("urn:x" + text))
terms = st.one_of(
    plain,
    tagged,
    directed,
    typed,
    foreign,
    iris,
    st.sampled_from([BlankNode("a"), BlankNode("b1"), Triple(NamedNode("urn:a"), NamedNode("urn:a"), Literal("a"))]),
)

read = st.sampled_from([X, call(Function.STR, X)])
views = st.one_of(read, st.builds(call, st.sampled_from([Function.LOWER, Function.UPPER]), read))
needles = st.builds(Literal, st.text(st.sampled_from(characters), max_size=3))
patterns = st.sampled_from(
    [
        "",
        "a",
        "^a",
        "a$",
        "^$",
        "a.b",
        "[ab]+1",
        r"\d",
        r"^\w+$",
        "(a|b)1?",
        "é",
        "a b",
        r"\s",
        "[^a]",
        r"\\",
        "ß",
        r"\p{Lu}",
    ]
).map(Literal)
flags = st.sampled_from(["", "i", "s", "m", "x", "q", "im", "qi", "sxi"]).map(Literal)
string_tests = st.builds(call, st.sampled_from([Function.CONTAINS, Function.STARTS, Function.ENDS]), views, needles)
regex_tests = st.one_of(
    st.builds(call, st.just(Function.REGEX), views, patterns),
    st.builds(call, st.just(Function.REGEX), views, patterns, flags),
)
spelled = st.sampled_from([call(Function.STR, X), call(Function.LOWER, X), call(Function.UPPER, call(Function.STR, X))])
equalities = st.one_of(
    st.tuples(st.just(call(Function.LANG, X)), st.sampled_from(["", "en", "EN", "en-us", "en-gb"]).map(Literal)),
    st.tuples(st.just(call(Function.DATATYPE, X)), st.one_of(datatypes, st.just(NamedNode("urn:a:b")))),
    st.tuples(spelled, st.one_of(plain, numerals.map(Literal), iris.map(lambda iri: Literal(iri.value)))),
)
equality_tests = st.builds(
    lambda function, sides, mirrored: call(function, *(sides[::-1] if mirrored else sides)),
    st.sampled_from([Function.EQUAL, Function.SAME_TERM]),
    equalities,
    st.booleans(),
)
range_tests = st.sampled_from(["", "*", "en", "EN", "en-us", "de", "de-latn", "e", "en-"]).map(
    lambda wanted: call(Function.LANG_MATCHES, call(Function.LANG, X), Literal(wanted))
)
kind_tests = st.sampled_from([Function.IS_IRI, Function.IS_BLANK, Function.IS_LITERAL, Function.IS_NUMERIC]).map(
    lambda function: call(function, X)
)
single_tests = st.one_of(
    string_tests,
    regex_tests,
    equality_tests,
    range_tests,
    kind_tests,
    kind_tests.map(lambda test: call(Function.NOT, test)),
)
memberships = st.builds(
    lambda texts: call(Function.IN, call(Function.STR, X), *texts), st.lists(plain, min_size=1, max_size=3)
)
alternatives = st.lists(st.one_of(single_tests, memberships), min_size=1, max_size=3).map(
    lambda each: call(Function.OR, *each)
)
tests = st.one_of(single_tests, memberships, alternatives)


def numbered(atoms: Atoms, asked) -> dict[int, Call]:
    """Number all expressions, which must be atoms; return one of each number."""
    numbers = [atoms.number(expression) for expression in asked]
    assert all(variable == X for variable, _ in numbers)
    return {number: expression for (_, number), expression in zip(numbers, asked, strict=True)}


def only(found: list[list[int]], expressions: dict[int, Call]) -> list[list[int]]:
    """Leave out the atoms that nobody asked for by themselves: members of alternatives."""
    assert all(row == sorted(set(row)) for row in found)
    return [[number for number in row if number in expressions] for row in found]


@settings(quick, max_examples=600)
@given(st.lists(tests, min_size=1, max_size=8), st.lists(terms, max_size=6), st.sets(st.integers(0, 5)))
def test_atoms_hold_where_their_expressions_do(asked, found, known):
    atoms = Atoms()
    expressions = numbered(atoms, asked)
    assert only(held(atoms, found, known), expressions) == expected(expressions, found)


@quick
@given(
    st.lists(st.lists(tests, max_size=4), min_size=1, max_size=6), st.lists(terms, min_size=1, max_size=4), st.randoms()
)
def test_atoms_may_come_between_events_and_in_any_order(batches, found, chance):
    atoms, expressions = Atoms(), {}
    for batch in batches:
        expressions |= numbered(atoms, batch)
        assert only(held(atoms, found), expressions) == expected(expressions, found)
    asked = [expression for batch in batches for expression in batch]
    chance.shuffle(asked)
    others = Atoms()
    reordered = numbered(others, asked)
    assert len(others) == len(atoms)
    assert only(held(others, found), reordered) == expected(reordered, found)


@quick
@given(st.lists(tests, max_size=8), st.lists(terms, max_size=4))
def test_atoms_are_the_same_after_a_journey_through_json(asked, found):
    atoms = Atoms()
    expressions = numbered(atoms, asked)
    loaded = Atoms.load(json.loads(json.dumps(atoms.export())))
    assert len(loaded) == len(atoms)
    assert held(loaded, found) == held(atoms, found)
    assert {loaded.number(asked)[1]: asked for asked in expressions.values()} == expressions
    assert len(loaded) == len(atoms)


@quick
@given(st.lists(st.text("ab", max_size=5), max_size=30), st.lists(st.text("abc", max_size=20), min_size=1, max_size=4))
def test_needles_of_few_letters_are_all_found(needles, texts):
    asked = [
        call(function, X, Literal(needle))
        for needle in needles
        for function in (Function.CONTAINS, Function.STARTS, Function.ENDS)
    ]
    atoms, terms = Atoms(), [Literal(text) for text in texts]
    expressions = numbered(atoms, asked)
    assert held(atoms, terms) == expected(expressions, terms)


@quick
@given(st.text(st.sampled_from(characters), max_size=10), st.integers(0, 10), st.integers(0, 10), views)
def test_pieces_of_a_text_are_found_in_it(text, begin, end, view):
    terms = [Literal(text), Literal(text, language="en"), Literal(text, datatype=XSD["token"])]
    written = [text.lower(), text.upper(), text]
    asked = [
        call(function, view, Literal(piece))
        for whole in written
        for piece in (whole, whole[begin:end], whole[:end], whole[begin:])
        for function in (Function.CONTAINS, Function.STARTS, Function.ENDS, Function.EQUAL)
        if function is not Function.EQUAL or view != X
    ]
    atoms = Atoms()
    expressions = numbered(atoms, asked)
    assert held(atoms, terms) == expected(expressions, terms)


def test_every_ending_with_every_test_of_it():
    numeric = ["integer", "decimal", "double", "float", "byte", "unsignedLong", "string", "boolean", "date", "dateTime"]
    texts = [
        "1",
        "-1.5",
        " 7 ",
        "1e3",
        "INF",
        "NaN",
        "12345678901234567890",
        "300",
        "",
        "true",
        "2020-01-01",
        "x",
        "1.",
    ]
    terms = [Literal(text, datatype=XSD[name]) for text in texts for name in numeric]
    terms += [Literal("a", language=tag) for tag in ("en", "en-us", "de-latn-de", "eng")]
    terms += [Literal("a", language="en", direction=BaseDirection.LTR), Literal("a", datatype=NamedNode("urn:a"))]
    terms += [NamedNode("urn:a"), BlankNode("a"), Triple(NamedNode("urn:a"), NamedNode("urn:a"), Literal("a"))]
    kinds = [call(kind, X) for kind in (Function.IS_IRI, Function.IS_BLANK, Function.IS_LITERAL, Function.IS_NUMERIC)]
    asked = [
        *kinds,
        *(call(Function.NOT, kind) for kind in kinds),
        *(call(Function.EQUAL, call(Function.LANG, X), Literal(tag)) for tag in ("", "en", "en-us", "de", "e")),
        *(
            call(Function.LANG_MATCHES, call(Function.LANG, X), Literal(wanted))
            for wanted in ("", "*", "en", "DE", "de-latn", "de-latn-de", "e", "en-")
        ),
        *(call(Function.EQUAL, call(Function.DATATYPE, X), XSD[name]) for name in numeric),
        *(call(Function.EQUAL, call(Function.DATATYPE, X), RDF[name]) for name in ("langString", "dirLangString")),
        call(Function.EQUAL, NamedNode("urn:a"), call(Function.DATATYPE, X)),
    ]
    atoms = Atoms()
    expressions = numbered(atoms, asked)
    assert held(atoms, terms, known=range(0, len(terms), 3)) == expected(expressions, terms)


def escaped(character: str, way: int) -> str:
    short = {"\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f", '"': '\\"', "'": "\\'", "\\": "\\\\"}
    if way == 0:
        return f"\\U{ord(character):08x}"
    if way == 1 and ord(character) < 0x10000:
        return f"\\u{ord(character):04X}"
    return short.get(character, character)


@quick
@given(st.lists(st.tuples(st.characters(exclude_categories=["Cs"]), st.integers(0, 4)), max_size=12))
def test_bodies_have_no_escapes(characters):
    text = "".join(character for character, _ in characters)
    body = "".join(escaped(character, way) for character, way in characters)
    bodies = read_bodies(texts_of([f'"{body}"', f'"{body}"@en', f'"{body}"^^<urn:d>', "_:b"]))
    assert [bodies.body(vertex).decode() for vertex in range(4)] == [text, text, text, ""]
    assert [bodies.ending(vertex).decode() for vertex in range(4)] == ["", "@en", "^^<urn:d>", ""]


# What is an atom, and what is not.


@pytest.mark.parametrize(
    "expression",
    [
        X,
        Literal("true"),
        call(Function.CONTAINS, Literal("abc"), X),
        call(Function.CONTAINS, Literal("abc"), Literal("a")),
        call(Function.CONTAINS, X, Y),
        call(Function.CONTAINS, X, Literal("a", language="en")),
        call(Function.CONTAINS, X, Literal("1", datatype=XSD["integer"])),
        call(Function.CONTAINS, call(Function.LOWER, call(Function.UPPER, X)), Literal("a")),
        call(Function.NOT, contains("a")),
        call(Function.OR, contains("a"), contains("b", Y)),
        call(Function.OR, contains("a"), call(Function.EQUAL, X, Literal("a"))),
        call(Function.AND, contains("a"), contains("b")),
        call(Function.EQUAL, X, Literal("a")),
        call(Function.EQUAL, call(Function.STR, X), Literal("a", language="en")),
        call(Function.EQUAL, call(Function.STR, X), NamedNode("urn:a")),
        call(Function.EQUAL, call(Function.LANG, X), call(Function.LANG, Y)),
        call(Function.IN, call(Function.STR, X)),
        call(Function.LANG_MATCHES, X, Literal("en")),
        call(Function.REGEX, X, Literal("(")),
        call(Function.REGEX, X, Literal(r"(a)\1")),
        call(Function.REGEX, X, Literal("a"), Literal("z")),
        call(Function.REGEX, X, Literal("a", language="en")),
        call(Function.REGEX, X, Literal("a"), Y),
        call(Function.REGEX, X, Literal("a" * 20_000)),
        call(Function.REGEX, X, Literal("((a{100}){100}){100}")),
        call(Function.IS_IRI, Literal("a")),
        contains("a" * (NEEDLE_BYTES_MAX + 1)),
        contains("µ" * (NEEDLE_BYTES_MAX // 2 + 1)),
    ],
)
def test_what_is_no_atom_has_no_number(expression):
    atoms = Atoms()
    assert atoms.number(expression) is None
    assert len(atoms) == 0


def test_equal_atoms_share_a_number_whatever_their_variable():
    atoms = Atoms()
    assert atoms.number(contains("a")) == (X, 0)
    assert atoms.number(contains("a", Y)) == (Y, 0)
    assert atoms.number(contains("a", call(Function.STR, X))) == (X, 1)
    assert atoms.number(call(Function.OR, contains("a"), contains("a"))) == (X, 0)
    assert atoms.number(call(Function.REGEX, X, Literal("a"), Literal("si"))) == (X, 2)
    assert atoms.number(call(Function.REGEX, X, Literal("a"), Literal("iis"))) == (X, 2)
    assert len(atoms) == 3


def test_alternatives_share_a_number_in_any_order():
    atoms = Atoms()
    first = atoms.number(call(Function.OR, contains("a"), call(Function.OR, contains("b"), contains("c"))))
    assert atoms.number(call(Function.OR, contains("c"), contains("b"), contains("a"))) == first
    assert held(atoms, [Literal("b")])[0] == [atoms.number(contains("b"))[1], first[1]]


def test_without_atoms_nothing_holds():
    assert held(Atoms(), [Literal("a"), BlankNode("b")]) == [[], []]
    atoms = Atoms()
    atoms.number(contains("a"))
    assert held(atoms, []) == []


# Work: it does not follow the number of atoms.


def words(count: int, seed: int) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choices("abcdefgh", k=chance.randint(3, 12))) for _ in range(count)]


def loaded_with(needles) -> Atoms:
    atoms = Atoms()
    for needle in needles:
        atoms.number(contains(needle))
    return atoms


def test_ten_thousand_needles_cost_no_more_moves_than_one():
    terms = [Literal(" ".join(words(20, seed))) for seed in range(5)]
    length = sum(len(term.value) for term in terms)
    one, many = loaded_with(["abc"]), loaded_with(words(10_000, 99))
    found = held(many, terms)
    held(one, terms)
    assert all(found)
    assert length <= one.steps <= 2 * length
    assert length <= many.steps <= 2 * length + sum(len(row) for row in found)


def test_needles_within_needles_are_found_once_per_text():
    needles = ["a" * length for length in range(NEEDLE_BYTES_MAX)]
    atoms = loaded_with(needles)
    terms = [Literal("a" * 5_000), Literal("b"), Literal("a" * 5_000, language="en"), Literal("a" * 3)]
    assert held(atoms, terms) == [list(range(len(needles))), [0], list(range(len(needles))), [0, 1, 2, 3]]
    assert atoms.steps <= 2 * 10_004 + 2 * len(needles) + 5


def test_texts_that_almost_match_cost_their_length():
    atoms = loaded_with(["a" * 500 + "b", "a" * 499 + "c"])
    text = ("a" * 498 + "d") * 20 + "a" * 500 + "b"
    assert held(atoms, [Literal(text)]) == [[0]]
    assert atoms.steps <= 2 * len(text) + 1


def test_prefixes_and_suffixes_cost_what_they_match():
    atoms = Atoms()
    for word in words(1_000, 5):
        atoms.number(call(Function.STARTS, X, Literal(word)))
        atoms.number(call(Function.ENDS, X, Literal(word)))
    term = Literal("ab" + "z" * 10_000 + "ba")
    held(atoms, [term])
    assert atoms.steps <= 8


def test_few_machines_are_built_few_times():
    built: list[int] = []

    def build(items: list[int]) -> list[int]:
        built.append(len(items))
        return items

    tiers = Tiers(build)
    for item in range(2_000):
        tiers.add(item)
        machines = tiers.machines()
        assert len(machines) <= 12
        assert [each for machine in machines for each in machine] == list(range(item + 1))
    assert sum(built) <= 2_000 * 20
    tiers.machines()
    assert len(built) == 2_000  # nothing new, nothing built


# Regular expressions.


@pytest.mark.parametrize("memory", [1 << 10, 1 << 13, 1 << 16, regexes.SET_MEMORY_BYTES])
def test_regexes_are_found_whatever_memory_a_set_has(monkeypatch, memory):
    monkeypatch.setattr(regexes, "SET_MEMORY_BYTES", memory)
    patterns = [f"^{word}[a-z]*{word}$" for word in words(40, 3)] + [r"\w{30}", "a.{20}b", "abc"]
    terms = [Literal(text) for text in (*words(10, 3), "abc" * 40, "", "a" * 50 + "b")]
    atoms = Atoms()
    expressions = numbered(atoms, [call(Function.REGEX, X, Literal(pattern)) for pattern in patterns])
    assert held(atoms, terms) == expected(expressions, terms)


def test_a_set_that_fails_in_a_search_is_noticed(monkeypatch):
    class Failing:
        @staticmethod
        def Match(text):  # noqa: N802 - RE2's name
            return None

    monkeypatch.setattr(regexes, "_compiled", lambda found: Failing)
    machine = Regexes([regex_of("a+", "", 7), regex_of("B", "i", 8), regex_of(".", "q", 9)])
    keys = machine.find(read_bodies(texts_of(['"ab"', '"x."'])), -1)
    assert sorted(keys.tolist()) == [7, 8, 1 << 32 | 9]


def test_a_pattern_that_a_set_refuses_is_searched_for_by_itself(monkeypatch):
    atoms = Atoms()
    atoms.number(call(Function.REGEX, X, Literal("ab")))
    atoms.number(call(Function.REGEX, X, Literal("a")))

    def refusing(options):
        found = re2.Set.SearchSet(options)

        def add(pattern):
            if pattern == "ab":
                raise re2.error("refused")
            return found.Add(pattern)

        return SimpleNamespace(Add=add, Compile=found.Compile, Match=found.Match)

    ours = SimpleNamespace(Options=re2.Options, error=re2.error, Set=SimpleNamespace(SearchSet=refusing))
    monkeypatch.setattr(regexes, "re2", ours)
    assert held(atoms, [Literal("ab"), Literal("ca")]) == [[0, 1], [1]]


# Publishers who make up datatypes.


def test_endings_are_forgotten_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(kinds, "ENDINGS_MAX", 3)
    atoms = Atoms()
    atoms.number(call(Function.EQUAL, call(Function.DATATYPE, X), NamedNode("urn:d:4")))
    atoms.number(call(Function.IS_LITERAL, X))
    terms = [Literal("a", datatype=NamedNode(f"urn:d:{number}")) for number in range(6)]
    for _ in range(3):
        assert held(atoms, terms) == [[1], [1], [1], [1], [0, 1], [1]]
