"""What is refused, where the error points, and what it advises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ontosub.languages.prologue import Fault
from ontosub.languages.sparql import parse, parse_query
from ontosub.languages.sparql.literals import typed
from ontosub.model.errors import LanguageError, LimitError
from ontosub.model.terms import XSD, Literal
from ontosub.semantics.faults import ExpressionError
from ontosub.semantics.regex import compile_pattern

P = "PREFIX : <http://e/>\nPREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"

REFUSED = [
    # text, what the error points at, message, a word of the hint
    ("SELECT ?x { ?x so:p ?y }", "so:p", 'prefix "so" is not declared', "PREFIX so:"),
    ("SELECT ?x { ?x :p 'abc'^^xsd:integer }", "'abc'^^xsd:integer", "ill-typed literal", "42"),
    ("SELECT ?x { ?x :p 'maybe'^^xsd:boolean }", "'maybe'^^xsd:boolean", "ill-typed literal", "true or false"),
    ("SELECT ?x { ?x :p '2023-02-29'^^xsd:date }", "'2023-02-29'^^xsd:date", "ill-typed literal", "2024"),
    ("SELECT ?x { VALUES ?x { '300'^^xsd:byte } }", "'300'^^xsd:byte", "ill-typed literal", "42"),
    ("SELECT ?x { ?x <http://a b> ?y }", "<http://a b>", "malformed IRI", "spaces"),
    ("SELECT ?x { ?x <http://a/\\u0020> ?y }", "<http://a/\\u0020>", "malformed IRI", "spaces"),
    ("SELECT ?x { ?x <rel> ?y }", "<rel>", "relative", "BASE"),
    ("SELECT ?x { ?x http://a/b ?y }", "http://", 'unexpected "/"', "angle brackets"),
    ("SELECT ?x { ?x :p 'abc }", "'abc }", "unterminated string", "Close it"),
    ("SELECT ?x { ?x :p '''abc }", "'abc }", "unterminated string", "three quotes"),
    ("SELECT ?x { ?x :p 'a\\q' }", "'a\\q'", "no escape", "backslash"),
    ("SELECT ?x { ?x :p '\\uD800' }", "'\\uD800'", "no character", "reserved"),
    ("SELECT ?x { ?x :p § }", "§", "unexpected character", "variable"),
    ("SELECT ?x { ?x :p ?y FILTER regex(?y, '(a') }", "'(a'", "invalid regular expression", "brackets"),
    ("SELECT ?x { ?x :p ?y FILTER regex(?y, '(?=a)') }", "'(?=a)'", "invalid regular expression", "linear time"),
    ("SELECT ?x { ?x :p ?y FILTER regex(?y, '[a-z-[aeiou]]') }", "'[a-z-[aeiou]]'", "inside a character class", "left"),
    (
        "SELECT ?x { ?x :p ?y FILTER regex(?y, '\\\\p{IsGreek}') }",
        "'\\\\p{IsGreek}'",
        "invalid character class",
        "brackets",
    ),
    ("SELECT ?x { ?x :p ?y FILTER regex(?y, 'a', 'g') }", "'g'", 'flag "g"', "ignore case"),
    ("SELECT ?x { ?x :p ?y FILTER(REPLACE(?y, 'a**', '') = '') }", "'a**'", "invalid regular expression", "q"),
    ("SELECT ?x { ?x :p ?y FILTER(strlen(?y, 1) = 2) }", "strlen(?y, 1)", "wrong number of arguments", "1"),
    ("SELECT ?x { ?x :p ?y FILTER(bound(1)) }", "bound(1)", "no variable", "BOUND(?x)"),
    ("SELECT ?x { ?x :p ?y FILTER(sum(?y) = 2) }", "sum(?y)", "SUM cannot stand here", "HAVING"),
    ("SELECT (SUM(COUNT(?y)) AS ?n) { ?x :p ?y }", "COUNT(?y)", "COUNT cannot stand here", "inside each other"),
    ("SELECT (SUM(*) AS ?n) { ?x :p ?y }", "SUM(*)", "makes no sense", "COUNT"),
    ("SELECT ?x { ?x price ?y }", "price", 'unexpected word "price"', "?price"),
    ("SELECT ?x { ?x :p }", "}", 'unexpected "}"', "a variable, an IRI, a literal"),
    ("SELECT ?x { ?x :p ?y", "{", '"{" is never closed', '"}"'),
    ("SELECT ?x { ?x :p ?y . FILTER(?y > 3 }", "}", 'unexpected "}"', "an operator"),
    ("SELECT ?x { ?x :p ?y FILTER(?y<2&&?y>1) }", "<2&&?y>", "unexpected", "space"),
    ("SELECT", "T", "ends too early", "a variable"),
    ("INSERT DATA { :a :b :c }", "INSERT", "an update", "SELECT, ASK or CONSTRUCT"),
    ("SELECT ?x FROM :g { ?x :p ?y }", "FROM", "FROM is not available", "Remove"),
    ("SELECT ?x FROM NAMED :g { ?x :p ?y }", "FROM", "FROM is not available", "Remove"),
    ("SELECT ?x { SERVICE SILENT :g { ?x :p ?y } }", "SERVICE", "SERVICE is not available", "Remove"),
    ("SELECT ?x { ?y :p ?z }", "?x", "unbound projection: ?x", "?y, ?z"),
    ("SELECT ?x { ?y :p ?z MINUS { ?x :p ?y } }", "?x", "unbound projection: ?x", "?y, ?z"),
    ("SELECT ?x { { SELECT ?y { ?x :p ?y } } }", "?x", "unbound projection: ?x", "?y"),
    ("DESCRIBE ?x { ?y :p ?z }", "?x", "unbound projection: ?x", "?y, ?z"),
    ("CONSTRUCT { ?z :p ?x } { ?x :p ?y }", "?z", "the template uses ?z", "?x, ?y"),
    ("CONSTRUCT { ?x :p ?y } { ?x :p ?y } GROUP BY ?x", "?y", "the template uses ?y", "?x"),
    ("CONSTRUCT { ?x :p/:q ?x } { ?x :p ?y }", "?x :p/:q ?x", "path", "verb"),
    ("SELECT ?x { ?x :p <<( ?y :q ?z }", "}", 'unexpected "}"', '")>>"'),
    ("SELECT ?x { ?x :p <<( ?y :q ?z", "<<(", '"<<(" is never closed', '")>>"'),
    ("SELECT ?x { ?x :p << ?y :q ?z", "<<", '"<<" is never closed', '">>"'),
    ("SELECT ?x { ?x :p ?y {| :q ?z", "{|", '"{|" is never closed', '"|}"'),
    ("SELECT ?x { ?x :p ?y {| |} }", "|}", 'unexpected "|}"', "an IRI"),
    ("SELECT ?x { <<( :a :b ?x )>> :p ?x }", "<<( :a :b ?x )>>", "a triple term cannot be a subject", "reifier"),
    ("SELECT ?x { ?x :p <<( 1 :b ?x )>> }", "1", "a literal cannot be a subject", "turn the triple around"),
    ("SELECT ?x { ?x :p <<( <<( :a :b 1 )>> :b ?x )>> }", "<<( :a :b 1 )>>", "cannot be a subject", "reifier"),
    ("SELECT ?x { ?x :p <<( ?x :b/:c ?x )>> }", "<<( ?x :b/:c ?x )>>", "path cannot stand in a triple term", "IRI"),
    ("SELECT ?x { << ?x :b+ ?x >> :p ?x }", "<< ?x :b+ ?x >>", "path cannot stand in a triple term", "IRI"),
    ("SELECT ?x { ?x :p/:q ?y ~ }", "?x :p/:q ?y", "a property path cannot be annotated", "single property"),
    ("SELECT ?x { ?x :p <<( ?x :b () )>> }", "()", 'unexpected "()"', "a variable"),
    ("SELECT ?x { ?x :p ?y BIND(<<( _:b :b ?y )>> AS ?z) }", "_:b", "a blank node cannot stand", "variable"),
    ("SELECT ?x { VALUES ?x { <<( :a :b <<( :a :b ?y )>> )>> } }", "?y", "?y is no constant", "TRIPLE"),
    ("SELECT ?x { VALUES ?x { <<( [] :b 1 )>> } }", "[]", "is no constant", "VALUES"),
    ("SELECT ?z { ?x :p <<( ?x :b ?y )>> }", "?z", "unbound projection: ?z", "?x, ?y"),
    ("CONSTRUCT { ?x :p <<( ?x :b ?z )>> } { ?x :p ?y }", "?z", "the template uses ?z", "?x, ?y"),
    ("CONSTRUCT { ?x :p ?y {| :p/:q 1 |} } { ?x :p ?y }", "{| :p/:q 1", "path", "verb"),
    ("SELECT ?x { _:a :p ?x OPTIONAL { ?x :q <<( ?x :q _:a )>> } }", "_:a", "used in another group", "variable"),
    ("SELECT ?x { ?x :p 'a'@ar--up }", "@ar--up", "up is no direction", "@ar--rtl"),
    (
        "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> ASK { ?x :p 'a'^^rdf:dirLangString }",
        "'a'^^rdf:dirLangString",
        "needs a language and a direction",
        "@fr--ltr",
    ),
    ("SELECT ?x { ?x :p ?y FILTER(isTRIPLE(?y, 1)) }", "isTRIPLE(?y, 1)", "wrong number of arguments", "1"),
    ("VERSION '''1.2''' SELECT ?x { ?x :p ?y }", "'''1.2'''", "a version is a short string", 'VERSION "1.2"'),
    ("SELECT ?x ?x { ?x :p ?y }", "?x", "already in use", "once"),
    ("SELECT (1 AS ?x) { ?x :p ?y }", "?x", "?x in AS is already in use", "name of its own"),
    ("SELECT ?x { ?x :p ?y BIND(1 AS ?y) }", "?y", "?y in BIND is already in use", "name of its own"),
    ("SELECT * { ?x :p ?y } GROUP BY ?x", "SELECT * { ?x :p ?y } GROUP BY ?x", "SELECT *", "Name the variables"),
    ("SELECT ?y { ?x :p ?y } GROUP BY ?x", "?y", "neither grouped nor aggregated", "GROUP BY"),
    ("SELECT ?x (?y + 1 AS ?z) { ?x :p ?y } GROUP BY ?x", "?y", "neither grouped nor aggregated", "GROUP BY"),
    ("SELECT ?x { _:a :p ?x OPTIONAL { _:a :q ?x } }", "_:a", "used in another group", "variable"),
    ("SELECT ?x { _:a :p ?x MINUS { ?x :p ?x } _:a :q ?x }", "_:a", "used in another group", "variable"),
    ("SELECT ?x { 1 :p ?x }", "1", "a literal cannot be a subject", "turn"),
    ("SELECT ?x { 1 ^:p ?x ; :q ?x }", "1", "a literal cannot be a subject", "turn"),
    ("SELECT ?x { VALUES (?x ?y) { (1) } }", "(1)", "a row with 1 values", "Give 2"),
    ("SELECT ?x { VALUES (?x ?x) { (1 2) } }", "?x", "already in use", "once"),
    ("SELECT ?x { ?x :p ?y } LIMIT 1.5", "1.5", "no count", "whole number"),
    ("SELECT ?x { ?x !() ?y }", "!()", "excludes nothing", "variable"),
    ("PREFIX a:b <http://e/> ASK {}", "a:b", "a prefix ends with a colon", "PREFIX ex:"),
]


@pytest.mark.parametrize(("text", "offending", "message", "advice"), REFUSED, ids=[case[0] for case in REFUSED])
def test_a_refused_query_says_where_and_why(text: str, offending: str, message: str, advice: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse(P + text, id="x")
    error = caught.value
    assert message in error.message
    assert error.message[0] == error.message[0].lower() or error.message.split()[0].isupper()
    assert error.diagnostic.offending == offending
    assert error.hint is not None
    assert advice in error.hint
    assert error.hint[0].isupper() or not error.hint[0].isalpha()
    assert error.hint.endswith(".")


def test_an_error_is_shown_with_its_line() -> None:
    with pytest.raises(LanguageError) as caught:
        parse("SELECT ?e WHERE {\n  ?e a so:Alarm }", id="x")
    assert str(caught.value) == (
        'line 2, column 8: prefix "so" is not declared\n'
        "    ?e a so:Alarm }\n"
        "         ^^^^^^^^\n"
        "hint: Declare it, for example: PREFIX so: <http://example.org/so#>."
    )


def test_what_could_stand_somewhere_is_said_briefly() -> None:
    for text in ("", "SELECT ?x { ?x :p ?y FILTER }", "ASK { ?x ?y ?z FILTER(1 + }", "SELECT ?x WHERE ?x", "ASK {} )"):
        with pytest.raises(LanguageError) as caught:
            parse(text, id="x")
        hint = caught.value.hint or ""
        assert 0 < len(hint) < 140
        assert not any(name in hint for name in ("IRIREF", "PNAME", "LBRACE", "$END", "STRING"))


@pytest.mark.parametrize(
    "text",
    [
        "ASK " + "{" * 101 + "}" * 101,
        "ASK { FILTER(" + "(" * 100 + "1" + ")" * 100 + ") }",
        "ASK { FILTER(1" + " + 1" * 101 + ") }",
        "ASK { FILTER(1" + " -1" * 101 + ") }",
        "ASK { FILTER(" + "(" * 60 + "1" + " + 1)" * 60 + ") }",
        "ASK { ?x ?y " + "[ ?y " * 100 + "1" + "]" * 100 + "}",
        "ASK {} #" + "x" * 1_000_000,
        "ASK { VALUES ?x { " + "1 " * 20_000 + "} }",
    ],
    ids=["groups", "brackets", "sums", "signed", "mixed", "blank nodes", "long", "tokens"],
)
def test_limits(text: str) -> None:
    with pytest.raises(LimitError):
        parse(text, id="x")


@pytest.mark.parametrize(
    "text",
    [
        "ASK " + "{" * 99 + "}" * 99,
        "ASK " + "{ SELECT * " * 98 + "{}" + "}" * 98,
        "ASK { " + "FILTER EXISTS {" * 98 + "}" * 98 + "}",
        "ASK { ?x a ?y FILTER(" + "STR(" * 97 + "?x" + ")" * 97 + ") }",
        "ASK { ?x a ?y FILTER(" + "(" * 48 + "?x" + " + 1)" * 48 + ") }",
        "ASK { ?x a ?y FILTER(?x" + " + 1" * 97 + " = 2) }",
        "ASK { ?x a " + "[ a " * 98 + "?z" + "]" * 98 + "}",
        "ASK { ?x a ?y FILTER(?x" + " || ?y" * 2000 + ") }",
        "ASK { ?x ?p ( " + "1 " * 2000 + ") }",
        "ASK { VALUES ?z { " + "-1 " * 2000 + "} }",
        "ASK { ?x a " + "<<( ?x a " * 98 + "?z" + " )>>" * 98 + "}",
        "ASK { ?x a " + "<< ?x a " * 98 + "?z" + " >>" * 98 + "}",
        "ASK { ?x a ?y" + " {| a ?y" * 48 + " |}" * 48 + "}",
        "ASK { VALUES ?z { " + "<<( <urn:s> a " * 96 + "1" + " )>>" * 96 + "} }",
    ],
)
def test_what_is_within_the_limits_is_read(text: str) -> None:
    assert parse(text, id="x").patterns


def test_hostile_texts_take_no_more_than_linear_work() -> None:
    for text in ('ASK { "' + '\\"' * 300_000, "ASK { ?x <" + ":" * 600_000, "ASK { " + "a.-" * 300_000, "(" * 600_000):
        with pytest.raises((LanguageError, LimitError)):
            parse(text, id="x")


def test_a_lone_surrogate_is_refused_in_a_printable_way() -> None:
    with pytest.raises(LanguageError, match="surrogate") as caught:
        parse("ASK { ?x ?y '\ud800' }", id="x")
    assert str(caught.value).encode()


@pytest.mark.parametrize(
    ("datatype", "good", "bad"),
    [
        ("integer", ["0", "-7", "+07", "9" * 60], ["", "1.0", "1e0", " 1", "٣"]),
        ("byte", ["-128", "127"], ["128", "-129", "9" * 60]),
        ("unsignedByte", ["0", "255", "-0"], ["256", "-1"]),
        ("positiveInteger", ["1"], ["0", "-1"]),
        ("decimal", ["1", "1.", ".5", "-1.50"], ["1e0", ".", "INF"]),
        ("double", ["1e5", ".5", "INF", "-INF", "NaN", "1"], ["inf", "e5", "1e"]),
        ("boolean", ["true", "0"], ["TRUE", "yes"]),
        ("date", ["2024-02-29", "2000-02-29Z", "-0004-01-31+14:00", "12000-12-31"], ["1900-02-29", "2024-13-01"]),
        ("dateTime", ["2024-05-31T24:00:00", "2024-05-31T12:00:00.5-05:30"], ["2024-05-31", "2024-04-31T12:00:00Z"]),
        ("dateTimeStamp", ["2024-05-31T12:00:00Z"], ["2024-05-31T12:00:00"]),
        ("time", ["23:59:59.999Z"], ["24:00:01", "12:00"]),
        ("gYear", ["2024"], ["24"]),
        ("gYearMonth", ["2024-05"], ["2024-5"]),
    ],
)  # fmt: skip
def test_lexical_spaces(datatype: str, good: list[str], bad: list[str]) -> None:
    for value in good:
        assert typed(value, XSD[datatype]).value == value
    for value in bad:
        with pytest.raises(Fault, match="ill-typed"):
            typed(value, XSD[datatype])


def test_a_path_may_start_at_a_literal() -> None:
    (found,) = parse("SELECT ?x { 1 ^<urn:p>/<urn:q> ?x }", id="x").patterns
    assert [str(arc.property) for arc in found.arcs] == ["<urn:p>", "<urn:q>"]
    assert parse("SELECT ?x { 1 <urn:p>* ?x }", id="x").residual is not None


@given(st.text(r"\[]^-abdwsicIC{}pPL()|*+?: ", max_size=12), st.sampled_from(["", "x", "q", "i"]))
def test_a_regular_expression_is_checked_as_it_is_run(pattern: str, flags: str) -> None:
    query = f"ASK {{ ?x ?y ?z FILTER REGEX(?z, {Literal(pattern)}, '{flags}') }}"
    try:
        compile_pattern(pattern, flags)
    except ExpressionError:
        with pytest.raises(LanguageError, match="invalid regular expression"):
            parse(query, id="x")
    else:
        assert parse(query, id="x")


def test_a_query_with_unbound_order_is_accepted() -> None:
    assert parse_query("SELECT ?x { ?x ?y ?z } ORDER BY ?nowhere")
