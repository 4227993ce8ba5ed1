"""The comparer of results, and the runner on a suite of its own: neither may say "the same" too easily."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from conformance.manifests import cases
from conformance.results import Row, read_result, same
from conformance.runs import fault

A, B, C = (BlankNode(name) for name in "abc")
X, Y = NamedNode("urn:x"), NamedNode("urn:y")

terms = st.sampled_from([A, B, C, X, Y, Literal("1"), Literal(1)])
rows = st.lists(st.dictionaries(st.sampled_from("vw"), terms, max_size=2), max_size=5)


def renamed(row: Row) -> Row:
    return {name: BlankNode(f"new-{t.value}") if isinstance(t, BlankNode) else t for name, t in row.items()}


@settings(max_examples=100)
@given(rows, st.randoms(use_true_random=False))
def test_renamed_and_shuffled_rows_are_the_same(given_rows, random) -> None:
    other = [renamed(row) for row in given_rows]
    random.shuffle(other)
    assert same(given_rows, other)


@settings(max_examples=100)
@given(rows.filter(bool))
def test_one_more_of_a_row_differs(given_rows) -> None:
    more = [*given_rows, given_rows[0]]
    assert not same(more, given_rows)
    assert not same(given_rows, more)
    assert same(given_rows, more, lax=True)
    assert not same(more, given_rows, lax=True)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([{"v": X}], [{"v": Y}]),
        ([{"v": X}], [{"w": X}]),
        ([{"v": X}], [{}]),
        ([{"v": X}], []),
        ([{"v": A}], [{"v": X}]),
        ([{"v": Literal("1")}], [{"v": Literal(1)}]),
        ([{"v": A, "w": A}], [{"v": A, "w": B}]),
        ([{"v": A}, {"v": A}], [{"v": A}, {"v": B}]),
        ([{"v": A, "w": B}, {"v": B, "w": A}], [{"v": A, "w": B}, {"v": B, "w": C}]),
        ([{"v": A, "w": B}, {"v": B, "w": A}], [{"v": A, "w": A}, {"v": B, "w": B}]),
        (True, False),
        (True, []),
        ([], False),
        (frozenset(), []),
        (frozenset({Triple(A, X, B)}), frozenset({Triple(A, X, A)})),
    ],
)
def test_different_results_differ(left, right) -> None:
    assert not same(left, right)
    assert not same(right, left)


def test_isomorphic_graphs_are_the_same() -> None:
    assert same(
        frozenset({Triple(A, X, B), Triple(B, X, Literal("1"))}),
        frozenset({Triple(C, X, A), Triple(A, X, Literal("1"))}),
    )


RESULT_SET = """
@prefix rs: <http://www.w3.org/2001/sw/DataAccess/tests/result-set#> .
[] a rs:ResultSet ; rs:resultVariable "v", "w" ;
   rs:solution [ rs:binding [ rs:variable "v" ; rs:value <urn:x> ], [ rs:variable "w" ; rs:value _:b ] ],
               [ rs:binding [ rs:variable "v" ; rs:value _:b ] ] .
"""


def test_result_sets_written_as_graphs(tmp_path: Path) -> None:
    (tmp_path / "rows.ttl").write_text(RESULT_SET)
    assert same(read_result(tmp_path / "rows.ttl"), [{"v": X, "w": A}, {"v": A}])
    assert not same(read_result(tmp_path / "rows.ttl"), [{"v": X, "w": A}, {"v": B}])
    boolean = "[] a rs:ResultSet ; rs:boolean false ."
    (tmp_path / "boolean.ttl").write_text(RESULT_SET.splitlines()[1] + boolean)
    assert read_result(tmp_path / "boolean.ttl") is False


MANIFEST = """
@prefix mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#> .
@prefix qt: <http://www.w3.org/2001/sw/DataAccess/tests/test-query#> .
<> mf:entries ( <#right> <#wrong> <#lax> <#malformed> <#accepted> <#refused> <#kept> <#follows> <#not> <#absent> ) .
<#right> a mf:QueryEvaluationTest ; mf:action [ qt:query <q.rq> ; qt:data <d.ttl> ] ; mf:result <two.srj> .
<#wrong> a mf:QueryEvaluationTest ; mf:action [ qt:query <q.rq> ; qt:data <d.ttl> ] ; mf:result <three.srj> .
<#lax> a mf:QueryEvaluationTest ; mf:resultCardinality mf:LaxCardinality ;
   mf:action [ qt:query <q.rq> ; qt:data <d.ttl> ] ; mf:result <three.srj> .
<#malformed> a mf:PositiveSyntaxTest ; mf:action <bad.rq> .
<#accepted> a mf:PositiveSyntaxTest ; mf:action <q.rq> .
<#refused> a mf:NegativeSyntaxTest ; mf:action <bad.rq> .
<#kept> a mf:NegativeSyntaxTest ; mf:action <q.rq> .
<#follows> a mf:PositiveEntailmentTest ; mf:action <d.ttl> ; mf:result <wider.ttl> .
<#not> a mf:NegativeEntailmentTest ; mf:action <d.ttl> ; mf:result <wider.ttl> .
<#absent> a mf:PositiveEntailmentTest ; mf:action <d.ttl> ; mf:result <nowhere.ttl> .
"""
DATA = "<s> <p> 1 . <t> <p> 1 . <p> <http://www.w3.org/2000/01/rdf-schema#subPropertyOf> <q> ."
ONE = {"v": {"type": "literal", "value": "1", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}}


def solutions(rows: list[dict[str, dict[str, str]]]) -> str:
    return json.dumps({"head": {"vars": ["v"]}, "results": {"bindings": rows}})


def test_the_runner_tells_right_from_wrong(tmp_path: Path) -> None:
    files = {
        "manifest.ttl": MANIFEST,
        "d.ttl": DATA,
        "wider.ttl": "<s> <q> 1 .",
        "q.rq": "SELECT ?v { ?s <p> ?v }",
        "bad.rq": "SELECT ?v { ?s <p> }",
        "two.srj": solutions([ONE] * 2),
        "three.srj": solutions([ONE] * 3),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    passed = [case.id.rsplit("/")[-1] for case in cases(".", tmp_path) if fault(case) is None]
    assert passed == ["right", "lax", "accepted", "refused", "follows"]
