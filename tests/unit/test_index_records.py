"""What an index stores beside its arrays: subscriptions, their ids, the ontology. All of it comes back as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BaseDirection

import generators
from ontosub import Ontology, Subscription
from ontosub.matching.compiled.files import ids as ids_module
from ontosub.matching.compiled.files.directory import Manifest, Writer, open_index
from ontosub.matching.compiled.files.fingerprint import fingerprint, ontology_from_bytes, ontology_to_bytes
from ontosub.matching.compiled.files.ids import Ids
from ontosub.matching.compiled.files.packed import BLOCK_BYTES_MAX, BLOCKS_KEPT, Packed, pack
from ontosub.matching.compiled.files.records import decode, encode
from ontosub.model import (
    Call,
    Diagnostic,
    Filter,
    Function,
    GraphPattern,
    MetaStatement,
    Span,
    TemplateTriple,
    Vertex,
)
from ontosub.model.errors import IndexDirectoryError, UsageError
from ontosub.model.expression import DEPTH_MAX, Exists
from ontosub.model.terms import XSD, BlankNode, Literal, NamedNode, Triple, Variable

PREFIXES = """PREFIX : <http://example.org/>
PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
TEXTS = [
    ("sparql", "SELECT DISTINCT ?a { ?a a :C, :D ; :p ?b FILTER(?b < 3 && regex(str(?a), 'x', 'i')) }"),
    ("sparql", "SELECT * { { ?a :p 'ä\\n\"'@en } UNION { ?a ?p 2.50 FILTER(?p IN (:q, :r)) } }"),
    ("sparql", "SELECT ?a ?n { ?a :p+ ?b OPTIONAL { ?b :name ?n } MINUS { ?a :q 'x' } }"),
    ("sparql", "CONSTRUCT { ?a :q ?b . ?a :r [ :s '2024-05-01'^^xsd:date ] } WHERE { ?a :p ?b FILTER(!(?b = 3)) }"),
    ("sparql", "CONSTRUCT { ?a :q ?n } WHERE { ?a :p ?b OPTIONAL { ?b :name ?n } }"),
    ("sparql", "CONSTRUCT { ?a :q <<( ?a :r <<( ?b a 'x'@ar--rtl )>> )>> } WHERE { ?a :p ?b ~ :r }"),
    ("sparql", "SELECT ?a { ?a :p <<( :s :q <<( :t :r 'ä\\n'@ar--rtl )>> )>> }"),
    ("sparql", "ASK { [] :p ?b FILTER(?b != -1.5e0 || isBlank(?b)) }"),
    ("sparql", "DESCRIBE ?a { ?a :p ?b }"),
    ("sparql", "SELECT * { ?a :p ?b FILTER(" + "!(" * 90 + "?b" + ")" * 90 + ") }"),
    (
        "ops",
        "(_:H, ?2, (:Selling, :price, :MoneyValue))\n(?2, ?3, (:MoneyValue, rdf:value, xsd:decimal), ?3 < 400.00)",
    ),
    (
        "mdv",
        "search :Provider c register c where c.host contains 'passau.de' and (c.info.memory > 64 or c.info.cpu = 5)",
    ),
]

spans = st.none() | st.builds(Span, *[st.integers(1, 500)] * 4)
texts = st.text(max_size=12)
pattern_terms = st.sampled_from(
    [
        *generators.VARIABLES,
        *generators.INDIVIDUALS,
        *generators.BLANKS,
        *generators.LITERALS,
        *generators.RDF_12_CONSTANTS,
    ]
)
properties = st.sampled_from([*generators.PROPERTIES, *generators.VARIABLES])
inner = st.builds(TemplateTriple, pattern_terms, properties, pattern_terms)
made = st.builds(TemplateTriple, pattern_terms, properties, st.one_of(pattern_terms, inner), spans)
generated_patterns = st.one_of(generators.patterns(rdf_12=True), generators.ops_patterns())


@st.composite
def subscriptions(draw: st.DrawFn) -> Subscription:
    """Return any subscription, with positions on some of its parts, though it has no text that they point into."""
    patterns = []
    for pattern in draw(st.lists(generated_patterns, min_size=1, max_size=3)):
        variables = st.sampled_from(pattern.variables or generators.VARIABLES)
        classes = st.frozensets(generators.classes, max_size=4)
        patterns.append(
            replace(
                pattern,
                vertices=tuple(replace(v, span=draw(spans), classes=draw(classes)) for v in pattern.vertices),
                arcs=tuple(replace(arc, span=draw(spans)) for arc in pattern.arcs),
                filters=tuple(
                    Filter(replace(filter_.expression, span=draw(spans)), draw(spans)) for filter_ in pattern.filters
                ),
                projection=draw(st.none() | st.lists(variables, max_size=2).map(tuple)),
            )
        )
    return Subscription(
        draw(st.text(min_size=1, max_size=12)),
        tuple(patterns),
        residual=draw(st.none() | texts),
        distinct=draw(st.booleans()),
        template=tuple(draw(st.lists(made, max_size=2))),
        language=draw(st.none() | texts),
        text=draw(st.none() | texts),
    )


def whole(value: object) -> object:
    """Return a value with all of its fields, those included that equality leaves out."""
    if is_dataclass(value):
        return type(value), [whole(getattr(value, field.name)) for field in fields(value)]
    return [whole(part) for part in value] if isinstance(value, tuple) else value


def simple(vertices: tuple[Vertex, ...] = (Vertex(Variable("a")),), **fields: object) -> Subscription:
    return Subscription("s", (GraphPattern(vertices),), **fields)


# Subscriptions.


@settings(max_examples=150, deadline=None)
@given(subscriptions())
def test_every_field_of_a_subscription_comes_back(subscription):
    decoded = decode(encode(subscription))
    assert decoded == subscription
    assert whole(decoded) == whole(subscription)


@pytest.mark.parametrize(("language", "text"), TEXTS)
def test_what_was_parsed_comes_back_with_its_text_and_positions(language, text):
    subscription = Subscription.parse(PREFIXES + text, language, id="s")
    assert whole(decode(encode(subscription))) == whole(subscription)


def test_positions_still_point_into_the_text():
    language, text = TEXTS[0]
    decoded = decode(encode(Subscription.parse(PREFIXES + text, language, id="s")))
    (pattern,) = decoded.patterns
    pointed_at = [Diagnostic("", text=decoded.text, span=part.span).offending for part in pattern.filters]
    assert pointed_at == ["?b < 3", "regex(str(?a), 'x', 'i')"]


def test_every_scalar_field_of_a_subscription_is_kept():
    for field in fields(Subscription):
        if field.name in ("id", "patterns", "template"):
            continue
        value = not field.default if isinstance(field.default, bool) else "other"
        subscription = simple(**{field.name: value})
        assert getattr(decode(encode(subscription)), field.name) == value


@pytest.mark.parametrize(
    "term",
    [
        Literal("", language="en"),
        Literal(" two  words ", language="en-gb"),
        Literal("x", language="ar", direction=BaseDirection.RTL),
        Literal("x", language="ar", direction=BaseDirection.LTR),
        Literal(""),
        Literal(" a ", datatype=NamedNode("urn:type")),
        Literal("not a number", datatype=XSD["integer"]),
        Literal("\0\x07\u2028\U0001f600"),
        NamedNode("http://example.org/ä?x=1#y"),
        BlankNode("é.1"),
        Variable("ä"),
    ],
)
def test_every_kind_of_term_comes_back(term):
    subscription = simple((Vertex(term),))
    assert decode(encode(subscription)).patterns[0].vertices[0].term == term


@pytest.mark.parametrize("function", Function)
def test_every_function_comes_back(function):
    filter_ = Filter(Call(function, (Variable("a"), Call(Function.STR, (Literal(1),)))))
    subscription = Subscription("s", (GraphPattern((Vertex(Variable("a")),), filters=(filter_,)),))
    assert decode(encode(subscription)) == subscription


def test_half_of_a_surrogate_pair_in_a_text_comes_back():
    assert decode(encode(simple(text="\ud800", residual="\ude00\ud83d\ude00"))).text == "\ud800"


junk = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 99), st.text(max_size=3), st.just([]), st.just({}), st.just([[0]]),
    st.floats(), st.sampled_from(["?a", "<urn:a", "<no iri", "_b", '"x', "@en x", "^urn:t x", "@en--up x", "^x"]),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(TEXTS[:6] + TEXTS[8:]), st.data())
def test_a_malformed_record_is_refused_or_means_something(text, data):
    record = json.loads(encode(Subscription.parse(PREFIXES + text[1], text[0], id="s")))
    place = record
    while True:
        keys = sorted(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(list(keys)))
        if not (isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans())):
            break
        place = place[key]
    place[key] = data.draw(junk)
    try:
        decoded = decode(json.dumps(record).encode())
    except IndexDirectoryError:
        return
    assert whole(decode(encode(decoded))) == whole(decoded)


def test_a_filter_that_is_too_deep_is_refused():
    expression = 0
    for _ in range(DEPTH_MAX + 1):
        expression = ["!", [expression]]
    record = {"id": "s", "patterns": [{"vertices": [[0]], "arcs": [], "filters": [[expression]]}], "terms": ["?a"]}
    with pytest.raises(IndexDirectoryError, match="a stored subscription is malformed"):
        decode(json.dumps(record).encode())


@pytest.mark.parametrize("constant", [Exists(None), Triple(NamedNode("urn:a"), NamedNode("urn:p"), Literal("b"))])
def test_what_no_core_holds_is_not_stored(constant):
    pattern = GraphPattern((Vertex(Variable("a")),), filters=(Filter(Call(Function.NOT, (constant,))),))
    with pytest.raises(UsageError, match="EXISTS or a triple term"):
        encode(Subscription("s", (pattern,)))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=30))
def test_bytes_that_are_no_record_are_refused(data):
    with pytest.raises(IndexDirectoryError, match="a stored subscription is malformed"):
        decode(data)


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b'{"id":"s","patterns":[],"terms":[]}',
        b'{"id":"","patterns":[{"vertices":[],"arcs":[]}],"terms":[]}',
        b'{"patterns":[{"vertices":[],"arcs":[]}],"terms":[]}',
        b'{"id":5,"patterns":[{"vertices":[],"arcs":[]}],"terms":[]}',
        b'{"id":"s","color":"red","patterns":[{"vertices":[],"arcs":[]}],"terms":[]}',
        b'{"id":"s","patterns":[{"vertices":[[0],[0]],"arcs":[]}],"terms":["?a"]}',
        b'{"id":"s","patterns":[{"vertices":[[0,0]],"arcs":[]}],"terms":["?a"]}',
        b'{"id":"s","patterns":[{"vertices":[[0]],"arcs":[[0,1,0]]}],"terms":["?a","_b"]}',
        b'{"id":"s","patterns":[{"vertices":[[1]],"arcs":[]}],"terms":["?a"]}',
    ],
)
def test_a_record_that_no_subscription_has_is_refused(data):
    with pytest.raises(IndexDirectoryError):
        decode(data)


# Packed records.


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=150), st.randoms(use_true_random=False))
def test_packed_records_are_read_in_any_order(records, chance):
    packed = Packed(pack(iter(records)))
    numbers = list(range(len(records)))
    chance.shuffle(numbers)
    assert [packed[number] for number in numbers] == [records[number] for number in numbers]
    assert list(packed) == records
    for beyond in (-1, len(records)):
        with pytest.raises(IndexError):
            packed[beyond]


def test_blocks_end_early_when_records_are_long():
    records = [bytes([number]) * (BLOCK_BYTES_MAX // 2) for number in range(BLOCKS_KEPT * 3)]
    arrays = pack(records)
    assert np.diff(arrays["block_records"]).tolist() == [2] * (len(records) // 2)
    assert list(Packed(arrays)) == records


def test_similar_records_take_few_bytes():
    records = [encode(simple(text=f"SELECT * {{ ?a <http://example.org/p> {number} }}")) for number in range(500)]
    assert sum(array.nbytes for array in pack(records).values()) < sum(map(len, records)) / 4


@pytest.mark.parametrize("name", ["record_starts", "block_records", "block_starts", "blocks"])
def test_malformed_arrays_of_records_are_refused(name):
    good = pack([b"record %d" % number for number in range(200)])
    array = good[name]
    others = [
        array[:-1],
        array.astype(np.int16),
        array.reshape(1, -1),
        array[:0],
        array[::-1],
        array[::-1].copy(),
        array + 1,
    ]
    for other in others:
        with pytest.raises(IndexDirectoryError):
            list(Packed({**good, name: other}))
    with pytest.raises(IndexDirectoryError):
        Packed({key: value for key, value in good.items() if key != name})


@pytest.mark.parametrize("name", ["record_starts", "block_records", "block_starts"])
def test_positions_that_fall_are_refused(name):
    good = pack([b"record %d" % number for number in range(200)])
    falling = good[name].copy()
    falling[[2, 3]] = falling[[3, 2]]
    with pytest.raises(IndexDirectoryError, match=name):
        Packed({**good, name: falling})


def test_a_size_beyond_all_memory_is_refused():
    good = pack([b"x"])
    with pytest.raises(IndexDirectoryError):
        Packed({**good, "record_starts": np.array([0, 1 << 62])})[0]


# Ids.

some_ids = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), unique=True, max_size=40)


@settings(max_examples=80, deadline=None)
@given(some_ids, some_ids)
def test_ids_are_found_both_ways(known, others):
    ids = Ids(Ids.build(known))
    assert len(ids) == len(known)
    assert list(map(ids.find, known)) == list(range(len(known)))
    assert [ids.id(number) for number in range(len(known))] == ids.all() == known
    assert {ids.find(other) for other in others if other not in known} <= {None}
    backwards = np.arange(len(known))[::-1]
    assert ids.ids(backwards) == known[::-1] == ids.strings.take(pa.array(backwards)).to_pylist()


def test_ids_with_equal_hashes_are_told_apart(monkeypatch):
    monkeypatch.setattr(ids_module, "_hash", lambda text: len(text))
    ids_module._text_and_hash.cache_clear()
    known = ["aa", "b", "c", "dd", "e"]
    ids = Ids(Ids.build(known))
    assert list(map(ids.find, known)) == [0, 1, 2, 3, 4]
    assert list(map(ids.find, ["x", "xx", "", "xxx"])) == [None] * 4
    ids_module._text_and_hash.cache_clear()


def test_numbers_that_no_subscription_has_are_refused():
    ids = Ids(Ids.build(["a", "b"]))
    for number in (-1, 2):
        with pytest.raises(IndexError):
            ids.id(number)
        with pytest.raises(IndexError):
            ids.ids(np.array([0, number]))
    assert ids.ids(np.array([], np.int64)) == []


def test_ids_that_cannot_be_are_refused():
    with pytest.raises(UsageError, match="have the id 'a'"):
        Ids.build(["a", "b", "a"])
    with pytest.raises(UsageError, match="not valid Unicode"):
        Ids.build(["\ud800"])
    assert Ids(Ids.build(["a"])).find("\ud800") is None


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("id_starts", [0, 2, 1, 3]),
        ("id_starts", [0, 1, 2, 1 << 40]),
        ("id_starts", [-5, 1, 2, 3]),
        ("id_starts", [0, 1, 2]),
        ("id_text", [0x61, 0xFF, 0x63]),
        ("id_text", [0x61, 0x62]),
        ("id_numbers", [0, 1, 3]),
        ("id_hashes", [1, 2]),
    ],
)
def test_malformed_arrays_of_ids_are_refused(name, values):
    good = Ids.build(["a", "b", "c"])
    with pytest.raises(IndexDirectoryError):
        Ids({**good, name: np.array(values, good[name].dtype)})
    with pytest.raises(IndexDirectoryError):
        Ids({**good, name: np.array([0, 1, 2], np.int16)})


# Ontologies.

meta_statements = st.builds(MetaStatement, generators.classes, generators.properties, generators.classes)
facts = st.builds(
    Triple,
    st.sampled_from([*generators.INDIVIDUALS, *generators.BLANKS]),
    generators.properties,
    st.sampled_from([*generators.INDIVIDUALS, *generators.BLANKS, *generators.LITERALS, *generators.RDF_12_CONSTANTS])
    | st.builds(Literal, st.text(st.characters(exclude_categories=["Cs"]))),
)
all_ontologies = st.builds(
    replace,
    generators.ontologies,
    equivalences=generators.pairs(generators.classes, generators.classes, 2),
    meta_statements=st.frozensets(meta_statements, max_size=3),
    background=st.frozensets(facts, max_size=6),
    missing_imports=st.frozensets(texts, max_size=2),
)


@settings(max_examples=60, deadline=None)
@given(all_ontologies)
def test_an_ontology_comes_back(ontology):
    data = ontology_to_bytes(ontology)
    assert ontology_from_bytes(data) == ontology
    assert fingerprint(ontology_from_bytes(data)) == fingerprint(ontology)


def test_a_statement_about_a_statement_comes_back():
    inner = Triple(BlankNode("b"), NamedNode("urn:p"), Literal("x", language="ar", direction=BaseDirection.RTL))
    ontology = Ontology(background=frozenset({Triple(BlankNode("b"), NamedNode("urn:says"), inner)}))
    assert ontology_from_bytes(ontology_to_bytes(ontology)) == ontology


@settings(max_examples=60, deadline=None)
@given(generators.ontologies, generators.ontologies)
def test_only_equal_ontologies_have_the_same_fingerprint(first, second):
    assert (fingerprint(first) == fingerprint(second)) == (first == second)


def test_a_pair_counts_by_where_it_stands():
    pair = frozenset({(NamedNode("urn:a"), NamedNode("urn:b"))})
    turned = frozenset({(NamedNode("urn:b"), NamedNode("urn:a"))})
    ontologies = [Ontology(subclasses=pair), Ontology(subclasses=turned), Ontology(subproperties=pair), Ontology()]
    assert len({fingerprint(ontology) for ontology in ontologies}) == 4


def test_a_missing_import_does_not_change_the_fingerprint():
    assert fingerprint(Ontology(missing_imports=frozenset({"urn:x"}))) == fingerprint(Ontology())


def test_the_same_file_has_the_same_fingerprint_on_every_reading():
    text = "@prefix : <urn:> . :a :p [ :q [ :r 1 ] ], ( 1 2 ) . _:x :p :b ."
    first, second = (Ontology.read(text, format="text/turtle") for _ in range(2))
    assert any(isinstance(triple.object, BlankNode) for triple in first.background)
    assert fingerprint(first) == fingerprint(second)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"\xff",
        b'{"colors":[]}',
        b'{"classes":["no iri"]}',
        b'{"classes":3}',
        b'{"subclasses":["urn:a"]}',
        b'{"subclasses":["urn:a urn:b urn:c"]}',
        b'{"meta_statements":["urn:a urn:b"]}',
        b'{"background":["<urn:a> <urn:b>"]}',
        b'{"background":["<urn:a> <urn:b> <urn:c> <urn:d>"]}',
        b'{"background":[7]}',
        b"[" * 100_000,
    ],
)
def test_bytes_that_are_no_ontology_are_refused(data):
    with pytest.raises(IndexDirectoryError, match="the stored ontology is malformed"):
        ontology_from_bytes(data)


# All of it, in a directory, from another process.

PRINT = """
from ontosub import Ontology
from ontosub.matching.compiled.files.fingerprint import fingerprint
text = "@prefix : <urn:> . " + " ".join(f":a{n} :p [ :q :b{n} ] ." for n in range(40))
print(fingerprint(Ontology.read(text, format="text/turtle")))
"""


def test_a_fingerprint_does_not_depend_on_the_process():
    told = {
        subprocess.run(
            [sys.executable, "-c", PRINT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1


def test_bytes_do_not_depend_on_the_order_of_sets():
    names = [NamedNode(f"urn:C{number}") for number in range(50)]
    one, other = frozenset(names), frozenset(reversed(names))
    assert list(one) != list(other)  # or this test would show nothing
    assert encode(simple((Vertex(Variable("a"), one),))) == encode(simple((Vertex(Variable("a"), other),)))
    assert ontology_to_bytes(Ontology(classes=one)) == ontology_to_bytes(Ontology(classes=other))
    assert fingerprint(Ontology(classes=one)) == fingerprint(Ontology(classes=other))


def test_all_of_it_is_read_from_a_mapped_file(tmp_path: Path):
    subscriptions = [
        Subscription.parse(PREFIXES + text, language, id=f"s{n}") for n, (language, text) in enumerate(TEXTS)
    ]
    ontology = Ontology.read("<urn:a> <urn:p> _:b .", format="text/turtle")
    arrays = {**pack(map(encode, subscriptions)), **Ids.build([subscription.id for subscription in subscriptions])}
    with Writer(tmp_path) as writer:
        segment = writer.write("one", arrays, {})
        text = writer.write("ontology", {"json": np.frombuffer(ontology_to_bytes(ontology), np.uint8)}, {})
        writer.commit(Manifest(fingerprint(ontology), 1, (segment,), files={"ontology": text}))
    opened = open_index(tmp_path, fingerprint=fingerprint(ontology))
    mapped, _ = opened.contents[segment]
    number = Ids(mapped).find("s4")
    assert number == 4
    assert whole(decode(Packed(mapped)[number])) == whole(subscriptions[4])
    stored, _ = opened.contents[opened.manifest.files["ontology"]]
    assert ontology_from_bytes(stored["json"].tobytes()) == ontology
