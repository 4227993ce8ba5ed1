"""MDV's text: what is read as which tree, what is refused and how."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontosub.languages.mdv import parse, parse_tree, print_rule
from ontosub.languages.mdv.syntax import (
    RESERVED,
    And,
    Comparison,
    Declaration,
    Iri,
    Name,
    Not,
    Number,
    Operator,
    Or,
    Path,
    Rule,
    Search,
    Step,
    Text,
    Truth,
    VariableName,
)
from ontosub.model.errors import LanguageError, LimitError

PREFIXES = {"": "http://example.org/mdv#"}
C = VariableName("c")


def condition(text: str):
    return parse_tree(f"search A c, B d register c where {text}").condition


def path(*steps: str, variable: str = "c") -> Path:
    return Path(
        VariableName(variable), tuple(Step(Name(None, step.removesuffix("?")), step.endswith("?")) for step in steps)
    )


def is_one(*steps: str) -> Comparison:
    return Comparison(path(*steps), Operator.EQUAL, Number("1"))


def test_reads_a_whole_rule():
    text = """
    prefix : <http://example.org/mdv#>   # the schema
    PREFIX x-1: <urn:x:>
    Search x-1:Provider c, <urn:B> d, 'My rule' e
    REGISTER c
    wHeRe c.host contains "uni" # and so on
    """
    assert parse_tree(text) == Rule(
        (Declaration("", Iri("http://example.org/mdv#")), Declaration("x-1", Iri("urn:x:"))),
        (
            Search(Name("x-1", "Provider"), C),
            Search(Iri("urn:B"), VariableName("d")),
            Search(Text("My rule"), VariableName("e")),
        ),
        C,
        Comparison(path("host"), Operator.CONTAINS, Text("uni")),
    )


def test_where_is_optional():
    assert parse_tree("search A c register c").condition is None


@pytest.mark.parametrize("operator", Operator)
def test_reads_every_operator(operator):
    assert condition(f"c.x {operator.value} 1") == Comparison(path("x"), operator, Number("1"))


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("c", path()),
        ("c.a.b-c", path("a", "b-c")),
        ("c.a?.b?", path("a?", "b?")),
        ("c . a ? . b", path("a?", "b")),
        ("c.:contains.ex:b?.<urn:p>", None),
        ("'it\\'s'", Text("it's")),
        ('"tab\\t\\u00E4\\U0001F600"', Text("tab\tä😀")),
        ("''", Text("")),
        ("-12", Number("-12")),
        ("+1.50", Number("+1.50")),
        ("6.02e23", Number("6.02e23")),
        ("TRUE", Truth(True)),
        ("false", Truth(False)),
        ("<urn:x>", Iri("urn:x")),
        ("ex:1", Name("ex", "1")),
        (":", Name("", "")),
    ],
)
def test_reads_every_operand(text, operand):
    if operand is None:
        steps = (Step(Name("", "contains")), Step(Name("ex", "b"), True), Step(Iri("urn:p")))
        operand = Path(C, steps)
    assert condition(f"{text} = d.y") == Comparison(operand, Operator.EQUAL, path("y", variable="d"))
    assert condition(f"d.y={text}") == Comparison(path("y", variable="d"), Operator.EQUAL, operand)


def test_and_binds_tighter_than_or_and_not_tightest():
    a, b, c = is_one("a"), is_one("b"), is_one("c")
    assert condition("c.a = 1 or c.b = 1 and c.c = 1") == Or((a, And((b, c))))
    assert condition("(c.a = 1 or c.b = 1) and c.c = 1") == And((Or((a, b)), c))
    assert condition("not c.a = 1 and not not (c.b = 1 or c.c = 1)") == And((Not(a), Not(Not(Or((b, c))))))


def test_less_than_is_not_an_iri():
    assert condition("c.a<5 and c.b>3") == And(
        (Comparison(path("a"), Operator.LESS, Number("5")), Comparison(path("b"), Operator.GREATER, Number("3")))
    )


def test_positions_cover_what_was_written():
    comparison = condition("\n  c.memory? > 64")
    assert (comparison.span.line, comparison.span.column, comparison.span.end_column) == (2, 3, 17)
    assert (comparison.left.span.column, comparison.left.span.end_column) == (3, 12)


@pytest.mark.parametrize(
    ("text", "message", "offending", "hint"),
    [
        ("", 'expected "search", found the end of the rule', None, "search CycleProvider c"),
        ("find A c register c", 'expected "search", found "find"', "find", "search CycleProvider c"),
        ("search", "expected a class or the name of a rule, found the end of the rule", "", "CycleProvider c"),
        ("search where c register c", 'name of a rule, found "where"', "where", "written :where"),
        ("search A register c", 'expected a variable after the extension, found "register"', "register", "keyword"),
        ("search A ?c register c", 'expected a variable after the extension, found "?"', "?", "question mark"),
        ("search A c", 'the rule has no "register" part', "", "which variable the rule registers"),
        ("search A c where c.x = 1", 'the rule has no "register" part', "where", "which variable"),
        ("search A c B d register c", 'expected "," or "register", found "B"', "B", "which variable"),
        ("search A c register", 'expected a variable after "register"', "", "plain word"),
        ("search A c register d", 'variable "d" is not declared', "d", "search SomeClass d"),
        ("search A c, B c register c", 'variable "c" is declared twice', "c", "a variable of its own"),
        ("search A c-d register c-d", '"c-d" is not a variable', "c-d", "letters, digits"),
        ("search A c register c c.x = 1", 'expected "where" or the end', "c", None),
        ("search A c register c where", "expected a constant or a path", "", "A predicate reads"),
        ("search A c register c where c.x", "expected an operator, found the end", "", "The operators are"),
        ("search A c register c where c.x and c.y = 1", 'expected an operator, found "and"', "and", "operators"),
        ("search A c register c where c.x == 1", 'unknown operator "=="', "==", 'Write "="'),
        ("search A c register c where c.x LIKE 'a'", 'unknown operator "LIKE"', "LIKE", 'Write "contains"'),
        ("search A c register c where c.x ~ 'a'", 'unknown operator "~"', "~", "The operators are"),
        ("search A c register c where c.x not contains 'a'", 'unknown operator "not"', "not", "in front"),
        ("search A c register c where c.x = 1 && c.y = 1", 'found "&&"', "&&", 'Write "and"'),
        ("search A c register c where c.x = 1 < 2", '"and", "or" or the end of the rule, found "<"', "<", None),
        ("search A c register c where c. = 1", 'expected a property after ".", found "="', "=", "A path reads"),
        ("search A c register c where c.x.not = 1", 'a property after ".", found "not"', "not", "written :not"),
        ("search A c register c where .x = 1", "a path that starts with a variable", ".", "A predicate reads"),
        ("search A c register c where (c.x = 1", 'expected "and", "or" or ")"', "", "still open"),
        ("search A c register c where c.x = 1)", 'found ")"', ")", "not opened"),
        ("search A c register c where c.x = 'abc", "unterminated string", "'", "Close it with '"),
        ("search A c register c where c.x = 'a\nb'", "unterminated string", "'", "same line"),
        ("search A c register c where c.x = 'a\\q'", "unknown escape \\q", "'a\\q'", "Use one of"),
        ("search A c register c where c.x = '\\uD800'", "unknown escape \\uD800", "'\\uD800'", "Use one of"),
        ("search A c register c where c.x = 1 § 2", "unexpected character '§'", "§", "letters, digits"),
        (f"search A c register c where c.x = {'1' * 101}", "more than 100 characters", "1" * 101, "shorter"),
        ("search ex:A c register c", 'prefix "ex" is not declared', "ex:A", "PREFIX ex: <"),
        ("search A c register c where c.ex:x = 1", 'prefix "ex" is not declared', "ex:x", "PREFIX ex: <"),
        ("search A c register c where d.x = 1", 'variable "d" is not declared', "d", "search SomeClass d"),
        ("search A c register c where c.x = Foo", 'variable "Foo" is not declared', "Foo", "written :Foo"),
        ("search <A> c register c", "<A> is not an IRI", "<A>", "absolute IRI"),
        ("search 'A' c register c", "there is no rule 'A'", "'A'", "rules known"),
        ("search A c register c where 1 = 1", "two constants are compared", "1 = 1", "must be a path"),
        ("search A c register c where :x = 'y'", "two constants are compared", ":x = 'y'", "must be a path"),
        ("search A c register c where c.x < true", "a truth value is neither", "c.x < true", "= or !="),
        ("search A c register c where :x >= c.x", "a resource is neither", ":x >= c.x", "= or !="),
        ("PREFIX ex <urn:x> search A c register c", "expected a prefix that ends in a colon", "ex", "PREFIX ex: <"),
        ("PREFIX ex: urn:x search A c register c", "expected an IRI in angle brackets", "urn:x", "PREFIX ex: <"),
    ],
)
def test_refuses_with_position_and_hint(text, message, offending, hint):
    with pytest.raises(LanguageError) as caught:
        parse(text, prefixes=PREFIXES)
    assert message in caught.value.message
    assert caught.value.span is not None
    if offending is not None:
        assert caught.value.diagnostic.offending == offending
    if hint is None:
        assert caught.value.hint is None
    else:
        assert hint in caught.value.hint


def test_a_bare_name_needs_the_default_prefix():
    with pytest.raises(LanguageError, match='prefix "" is not declared') as caught:
        parse("search A c register c")
    assert caught.value.column == 8
    assert "PREFIX : <" in caught.value.hint


def test_a_lone_surrogate_is_refused():
    with pytest.raises(LanguageError, match="surrogate") as caught:
        parse("search A c\nregister c where c.x = '\ud800'", prefixes=PREFIXES)
    assert (caught.value.line, caught.value.column) == (2, 25)


def test_a_long_word_makes_no_long_message():
    with pytest.raises(LanguageError) as caught:
        parse(f"search A c register {'d' * 100_000}", prefixes=PREFIXES)
    assert len(str(caught.value)) < 2_000


@pytest.mark.parametrize("opening", ["(", "not ", "not ("])
def test_nesting_is_limited(opening):
    def nested(depth: int) -> str:
        closing = ")" if "(" in opening else ""
        return "search A c register c where " + opening * depth + "c.x = 1" + closing * depth

    per_opening = 2 if opening == "not (" else 1
    assert parse(nested(100 // per_opening), prefixes=PREFIXES).patterns
    with pytest.raises(LimitError, match=r"line 1, column \d+: the condition is nested more than 100 deep"):
        parse(nested(50_000), prefixes=PREFIXES)


def test_length_is_limited():
    with pytest.raises(LimitError, match="1,000,001 characters"):
        parse(" " * 1_000_001, prefixes=PREFIXES)
    with pytest.raises(LimitError, match="more than 200,000 words"):
        parse("search A c register c where c" + ".p" * 200_000, prefixes=PREFIXES)


words = st.from_regex(r"[A-Za-z_ä][A-Za-z0-9_ä-]{0,6}", fullmatch=True).filter(
    lambda word: word.lower() not in RESERVED
)
bare = st.builds(Name, st.none(), words)
prefixed = st.builds(Name, words | st.just(""), words | st.from_regex(r"[0-9a-z-]{0,4}", fullmatch=True))
iris = st.builds(Iri, st.from_regex(r"urn:[a-z0-9#/.?&'ä()=!-]{1,9}", fullmatch=True))
texts = st.builds(Text, st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
numbers = st.builds(Number, st.from_regex(r"[+-]?[0-9]{1,5}(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?", fullmatch=True))
variables = st.builds(VariableName, words)
paths = st.builds(
    Path,
    variables,
    st.lists(st.builds(Step, bare | prefixed | iris, st.booleans()), max_size=3).map(tuple),
)
operands = paths | texts | numbers | st.builds(Truth, st.booleans()) | iris | prefixed
comparisons = st.builds(Comparison, operands, st.sampled_from(Operator), operands)


def _combined(conditions):
    parts = st.lists(conditions, min_size=2, max_size=3).map(tuple)
    return st.builds(Not, conditions) | st.builds(And, parts) | st.builds(Or, parts)


rule_trees = st.builds(
    Rule,
    st.lists(st.builds(Declaration, words | st.just(""), iris), max_size=2).map(tuple),
    st.lists(st.builds(Search, bare | prefixed | iris | texts, variables), min_size=1, max_size=3).map(tuple),
    variables,
    st.none() | st.recursive(comparisons, _combined, max_leaves=8),
)


@given(rule_trees)
@settings(max_examples=200, deadline=None)
def test_what_is_printed_is_read_as_the_same_tree(tree):
    assert parse_tree(print_rule(tree)) == tree


TOKENS = ("search", "register", "where", "A", "c", ".", "=", "(", ")", "not", "and", "or", "'", "<", ":x", "1")


@given(st.text(max_size=40) | st.lists(st.sampled_from(TOKENS)).map(" ".join))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_or_refused(text):
    try:
        accepted = bool(parse(text, prefixes=PREFIXES).patterns)
    except LanguageError as error:
        accepted = error.span is not None
    assert accepted
