"""What MDV rules answer on documents: the paper's examples, and any rule against a reading of its tree.

Patterns are evaluated here by Oxigraph, as SPARQL, so these tests depend on no matcher of ours.
"""

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Quad, RdfFormat, Store

from ontosub.languages.mdv import parse, parse_rules, print_rule
from ontosub.languages.mdv.syntax import (
    And,
    Comparison,
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
    VariableName,
)
from ontosub.model.expression import Call, Expression, Function
from ontosub.model.pattern import GraphPattern
from ontosub.model.subscription import Subscription
from ontosub.model.terms import TYPE, XSD, Literal, NamedNode, Namespace

EX = Namespace("http://example.org/schema#")
DOC = Namespace("http://example.org/doc.rdf#")
PREFIXES = {"": str(EX), "doc": str(DOC)}
INFIX = frozenset({"||", "&&", "=", "!=", "<", "<=", ">", ">="})


def sparql(pattern: GraphPattern) -> str:
    types = [f"{vertex.term} {TYPE} {asked} ." for vertex in pattern.vertices for asked in vertex.classes]
    arcs = [f"{arc.subject} {arc.property} {arc.object} ." for arc in pattern.arcs]
    filters = [f"FILTER({spell(each.expression)})" for each in pattern.filters]
    projected = " ".join(map(str, pattern.projected))
    return f"SELECT DISTINCT {projected} WHERE {{ {' '.join([*types, *arcs, *filters])} }}"


def spell(expression: Expression) -> str:
    if not isinstance(expression, Call):
        return str(expression)
    arguments = [spell(each) for each in expression.arguments]
    if expression.function is Function.NUMBER:
        return f"IF(ISNUMERIC({arguments[0]}), {arguments[0]}, {XSD['double']}(STR({arguments[0]})))"
    if expression.function.value in INFIX:
        return f"({f' {expression.function.value} '.join(arguments)})"
    return f"{expression.function.value}({', '.join(arguments)})"


def answers(subscription: Subscription, store: Store) -> set:
    return {solution[0] for pattern in subscription.patterns for solution in store.query(sparql(pattern))}


# Figure 1 of the paper, and three providers that miss some part of Example 1.
FIGURE_1 = """
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://example.org/schema#" xmlns:s="http://example.org/schema#">
  <CycleProvider rdf:ID="host">
    <serverHost>pirates.uni-passau.de</serverHost>
    <serverPort>5874</serverPort>
    <serverInformation><ServerInformation rdf:ID="info" s:memory="92" s:cpu="600" /></serverInformation>
  </CycleProvider>
  <CycleProvider rdf:ID="small">
    <serverHost>db.uni-passau.de</serverHost>
    <serverInformation><ServerInformation rdf:ID="little" s:memory="8" s:cpu="700" /></serverInformation>
  </CycleProvider>
  <CycleProvider rdf:ID="elsewhere">
    <serverHost>tum.de</serverHost>
    <alias>first.de</alias> <alias>uni-passau.de</alias>
    <serverInformation rdf:resource="#info" />
  </CycleProvider>
  <DataProvider rdf:ID="data">
    <serverHost>data.uni-passau.de</serverHost>
    <serverInformation rdf:resource="#info" />
  </DataProvider>
</rdf:RDF>
"""


@pytest.fixture(scope="module")
def documents() -> Store:
    store = Store()
    store.load(FIGURE_1.encode(), RdfFormat.RDF_XML, base_iri="http://example.org/doc.rdf")
    return store


def found(text: str, documents: Store, **options) -> set[str]:
    return {term.value.removeprefix(DOC) for term in answers(parse(text, prefixes=PREFIXES, **options), documents)}


EXAMPLE_1 = """
search    CycleProvider c
register  c
where    c.serverHost contains 'uni-passau.de'
         and c.serverInformation.memory > 64
"""
NORMALISED = """
search    CycleProvider c, ServerInformation s
register  c
where    c.serverHost contains 'uni-passau.de'
           and c.serverInformation = s
           and s.memory > 64
"""
SECTION_3_3_1 = NORMALISED.rstrip() + " and s.cpu > 500"


def test_example_1_and_its_normalised_form_differ_in_the_class_asked_only(documents):
    (example,), (normalised,) = (parse(text, prefixes=PREFIXES).patterns for text in (EXAMPLE_1, NORMALISED))

    def shape(pattern: GraphPattern) -> str:
        spelled = sparql(pattern)
        for name in ("?c·serverInformation", "?s "):
            spelled = spelled.replace(name.strip() + " ", "?information ")
        return spelled.replace("?c·memory", "?memory").replace("?s·memory", "?memory")

    assert shape(normalised).replace(f"?information {TYPE} {EX['ServerInformation']} . ", "") == shape(example)
    assert found(EXAMPLE_1, documents) == found(NORMALISED, documents) == {"host"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("search CycleProvider c register c where c.serverHost contains 'uni-passau.de'", {"host", "small"}),
        ("search CycleProvider c register c where c.serverInformation.memory > 64", {"host", "elsewhere"}),
        ("search CycleProvider c register c where c.serverInformation.cpu > 500", {"host", "small", "elsewhere"}),
        (SECTION_3_3_1, {"host"}),
        ("search CycleProvider c register c where c = 'http://example.org/doc.rdf#host'", {"host"}),
        ("search CycleProvider c register c where c = doc:host", {"host"}),
        ("search CycleProvider c register c where c.serverPort > 5873.5", {"host"}),
        ("search CycleProvider c register c where c.serverInformation.memory = 92.0", {"host", "elsewhere"}),
        (
            "search CycleProvider c register c where c.serverHost contains 'uni-passau.de' and "
            "c.serverInformation.cpu = 600 and c.serverInformation.memory = 92",
            {"host"},
        ),
        (
            "search CycleProvider c register c where c.alias? contains 'uni' and c.alias? contains 'first'",
            {"elsewhere"},
        ),
        ("search CycleProvider c register c where c.alias contains 'uni' and c.alias contains 'first'", set()),
        ("search CycleProvider c register c where c.serverInformation = doc:info", {"host", "elsewhere"}),
        ("search CycleProvider c register c where not c.serverHost contains 'passau'", {"elsewhere"}),
        (
            "search CycleProvider c, DataProvider d register c where c.serverInformation = d.serverInformation",
            {"host", "elsewhere"},
        ),
        (
            "search CycleProvider c, CycleProvider d register c "
            "where c.serverInformation.memory < d.serverInformation.memory",
            {"small"},
        ),
        (
            "search CycleProvider c, CycleProvider d register c "
            "where c.serverInformation.memory > d.serverInformation.memory",
            {"host", "elsewhere"},
        ),
    ],
)
def test_rules_of_the_paper_and_of_their_kind(text, expected, documents):
    assert found(text, documents) == expected


def test_the_decomposition_of_section_3_3_1_answers_as_the_rule_it_came_from(documents):
    rules = parse_rules(
        {
            "RuleA": "search ServerInformation s register s where s.memory > 64",
            "RuleB": "search ServerInformation s register s where s.cpu > 500",
            "RuleC": "search CycleProvider c register c where c.serverHost contains 'uni-passau.de'",
            "RuleD": "search RuleA a, RuleB b, RuleC c register c where a = b and c.serverInformation = a",
            "RuleE": "search RuleA a, RuleB b register a where a = b",
            "RuleF": "search RuleE a, RuleC c register c where c.serverInformation = a",
        },
        prefixes=PREFIXES,
    )
    assert answers(rules["RuleA"], documents) == answers(rules["RuleE"], documents) == {DOC["info"]}
    assert answers(rules["RuleD"], documents) == answers(rules["RuleF"], documents) == {DOC["host"]}


def test_the_decomposition_of_section_3_3_3_answers_as_the_rules_it_came_from(documents):
    rules = parse_rules(
        {
            "RuleA": "search CycleProvider c register c",
            "RuleB1": "search ServerInformation s register s where s.memory > 64",
            "RuleC1": "search RuleA c, RuleB1 s register c where c.serverInformation = s",
            "RuleB2": "search ServerInformation s register s where s.cpu > 500",
            "RuleC2": "search RuleA c, RuleB2 s register c where c.serverInformation = s",
        },
        prefixes=PREFIXES,
    )
    assert answers(rules["RuleC1"], documents) == {DOC["host"], DOC["elsewhere"]}
    assert answers(rules["RuleC2"], documents) == {DOC["host"], DOC["elsewhere"], DOC["small"]}


@pytest.mark.parametrize(
    ("operator", "constant", "values"),
    [
        ("=", "true", {"true", "1"}),
        ("!=", "true", {"false", "0", "maybe"}),
        ("=", "false", {"false", "0"}),
        ("=", "1", {"1"}),
        ("!=", "1", {"0"}),
        ("=", "'1'", {"1"}),
        ("<", "'a'", {"0", "1"}),
    ],
)
def test_the_constant_decides_how_a_value_is_read(operator, constant, values):
    store = Store()
    for value in ("true", "false", "0", "1", "maybe"):
        store.add(Quad(DOC[value], TYPE, EX["A"]))
        store.add(Quad(DOC[value], EX["x"], Literal(value)))
    assert found(f"search A c register c where c.x {operator} {constant}", store) == values


# Any rule, read twice. p and q have at most one value, so that a path without `?` has one; m has any number.
RESOURCES = [DOC[f"r{n}"] for n in range(3)]
VALUES = [*RESOURCES, *(Literal(value) for value in ("9", "10", "9.0", "ten"))]
NAMES = ("c", "d")

steps = st.sampled_from([Step(Name(None, "p")), Step(Name(None, "q")), Step(Name(None, "m"), True)])
paths = st.builds(Path, st.sampled_from(NAMES).map(VariableName), st.lists(steps, max_size=2).map(tuple))
constants = st.sampled_from([Number("9"), Number("9.5"), Text("9"), Text("en"), Text(RESOURCES[0].value), Text("t")])
resources = st.sampled_from(RESOURCES[:2]).map(lambda node: Iri(node.value))
comparisons = (
    st.builds(Comparison, paths, st.sampled_from(Operator), paths | constants)
    | st.builds(Comparison, constants, st.sampled_from(Operator), paths)
    | st.builds(Comparison, paths, st.sampled_from([Operator.EQUAL, Operator.NOT_EQUAL]), paths | resources)
)


def _combined(conditions):
    parts = st.lists(conditions, min_size=2, max_size=3).map(tuple)
    return st.builds(Not, conditions) | st.builds(And, parts) | st.builds(Or, parts)


conditions = st.recursive(comparisons, _combined, max_leaves=5)
graphs = st.fixed_dictionaries(
    {
        **{(node, name): st.sets(st.sampled_from(VALUES), max_size=1) for node in RESOURCES for name in ("p", "q")},
        **{(node, "m"): st.sets(st.sampled_from(VALUES), max_size=2) for node in RESOURCES},
    }
)


def values_of(operand, assignment, graph) -> Iterator:
    if not isinstance(operand, Path):
        yield operand
        return
    reached = [assignment[operand.variable.value]]
    for step in operand.steps:
        reached = [value for node in reached for value in graph.get((node, step.property.local), ())]
    yield from reached


def number_of(term) -> float | None:
    try:
        return (
            float(term.lexical if isinstance(term, Number) else term.value) if not isinstance(term, NamedNode) else None
        )
    except ValueError:
        return None


def holds(comparison: Comparison, left, right, negated: bool) -> bool:
    """Say whether the operator, or its opposite, holds of two values; neither does if they cannot be compared."""
    if comparison.operator is Operator.CONTAINS:
        left, right = (side.lexical if isinstance(side, Number) else side.value for side in (left, right))
        return (right in left) != negated
    pair = _comparable(comparison.operator, left, right)
    if pair is None:
        return False
    one, other = pair
    result = {
        Operator.EQUAL: lambda: one == other,
        Operator.NOT_EQUAL: lambda: one != other,
        Operator.LESS: lambda: one < other,
        Operator.LESS_OR_EQUAL: lambda: one <= other,
        Operator.GREATER: lambda: one > other,
        Operator.GREATER_OR_EQUAL: lambda: one >= other,
    }[comparison.operator]()
    return result != negated


def _comparable(operator: Operator, left, right):
    sides = (left, right)
    numbers = (number_of(left), number_of(right))
    if any(isinstance(side, Number) for side in sides):
        return None if None in numbers else numbers
    if any(isinstance(side, Text | Iri) for side in sides):
        return left.value, right.value
    if operator in (Operator.EQUAL, Operator.NOT_EQUAL) or left == right:
        # Oxigraph finds a resource to be neither less nor greater than itself; SPARQL leaves that open.
        return left.value, right.value
    if None not in numbers:
        return numbers
    return None if any(isinstance(side, NamedNode) for side in sides) else (left.value, right.value)


def satisfies(condition, assignment, graph, negated=False) -> bool:
    match condition:
        case Not(part):
            return satisfies(part, assignment, graph, not negated)
        case And(parts) | Or(parts):
            every = all if isinstance(condition, And) != negated else any
            return every(satisfies(part, assignment, graph, negated) for part in parts)
        case Comparison(left, _, right):
            pairs = product(values_of(left, assignment, graph), values_of(right, assignment, graph))
            return any(holds(condition, one, other, negated) for one, other in pairs)


@given(conditions, graphs, st.sampled_from(NAMES))
@settings(max_examples=150, deadline=None)
def test_a_rule_answers_what_a_reading_of_its_tree_answers(condition, graph, registered):
    searches = tuple(Search(Name(None, "A"), VariableName(name)) for name in NAMES)
    rule = print_rule(Rule((), searches, VariableName(registered), condition))
    store = Store()
    store.extend(Quad(node, TYPE, EX["A"]) for node in RESOURCES)
    store.extend(Quad(node, EX[name], value) for (node, name), values in graph.items() for value in values)

    assignments = (dict(zip(NAMES, chosen, strict=True)) for chosen in product(RESOURCES, repeat=len(NAMES)))
    expected = {assignment[registered] for assignment in assignments if satisfies(condition, assignment, graph)}
    assert answers(parse(rule, prefixes=PREFIXES), store) == expected
