"""Hostile subscriptions, each with the event that makes it expensive.

An attack comes with two innocent subscriptions on the same event. Whatever the hostile one asks, the innocent ones are
answered, and the process stays within its limits. `gives_up` names the ways to ask in which the hostile one cannot be
answered within any sensible budget, because the answer itself is too large or too much must be seen for it; there
`over_budget` must name it. In the other ways it may be given up or answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

MATCH, IDS, BATCH = "match", "match_ids", "match_batch"
ANSWERS = frozenset({MATCH, BATCH})
ALWAYS = frozenset({MATCH, IDS, BATCH})
NEVER = frozenset[str]()

PREFIX = "PREFIX : <urn:> "
MEGABYTE = 1_000_000

INNOCENT = {
    "innocent": PREFIX + "SELECT ?x { :innocent :says ?x }",
    "innocent-residual": PREFIX + "SELECT ?x ?y { :innocent :says ?x OPTIONAL { ?x :says ?y } }",
}


def rows(count: int) -> Iterator[str]:
    """Yield unconnected statements."""
    for number in range(count):
        yield f"<urn:s{number}> <urn:p> <urn:o{number}> ."


def numbered(count: int) -> Iterator[str]:
    """Yield statements with an integer each."""
    for number in range(count):
        yield f'<urn:s{number}> <urn:n> "{number}"^^<http://www.w3.org/2001/XMLSchema#integer> .'


def chain(count: int) -> Iterator[str]:
    """Yield a chain of so many arcs."""
    for number in range(count):
        yield f"<urn:c{number}> <urn:p> <urn:c{number + 1}> ."


def clique(count: int) -> Iterator[str]:
    """Yield arcs from each of so many vertices to each other."""
    for one in range(count):
        for other in range(count):
            if one != other:
                yield f"<urn:c{one}> <urn:p> <urn:c{other}> ."


def large(count: int, size: int = 4 * MEGABYTE, letter: str = "a") -> Iterator[str]:
    """Yield rows, and one literal of some megabytes."""
    yield f'<urn:i> <urn:large> "{letter * size}" .'
    yield from rows(count)


def graphs(count: int) -> Iterator[str]:
    """Yield one triple in so many named graphs."""
    for number in range(count):
        yield f"<urn:a> <urn:p> <urn:b> <urn:g{number}> ."


@dataclass(frozen=True, slots=True)
class Attack:
    """One hostile subscription on one event."""

    query: str
    event: Callable[[], Iterator[str]]
    gives_up: frozenset[str] = NEVER
    ontology: str = ""
    event_may_be_refused: bool = False
    """Whether the event itself is too much, for everybody."""

    @property
    def has_graphs(self) -> bool:
        """Say whether the event has named graphs, which a table of payloads cannot bring."""
        return "GRAPH" in self.query

    def payload(self) -> str:
        """Return the event, with what the innocent subscriptions ask for."""
        return "\n".join(["<urn:innocent> <urn:says> <urn:hello> .", *self.event()]) + "\n"


def _binds(first: str, step: str, count: int) -> str:
    """Return a chain of BINDs, each of which uses the one before it twice."""
    lines = [f"BIND({first} AS ?v0)"]
    lines += [f"BIND({step.replace('?v', f'?v{number}')} AS ?v{number + 1})" for number in range(count)]
    return " ".join(lines)


def _nested(function: Callable[[str], str], innermost: str, depth: int) -> str:
    text = innermost
    for _ in range(depth):
        text = function(text)
    return text


def _longer(text: str) -> str:
    return f"REPLACE({text}, 'a', '{'a' * 100}')"


CROSS = "?a ?b ?c . ?d ?e ?f . ?g ?h ?i"
TRANSITIVE = (
    "<urn:p> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://www.w3.org/2002/07/owl#TransitiveProperty> ."
)
NAMED = " ".join(f"(:s{number} UNDEF) (UNDEF :o{number})" for number in range(2_000))
TESTS = " || ".join(f"STR(?a) = '{number}'" for number in range(2_500))
MEMBERS = ", ".join(f":x{number}" for number in range(9_000))

ATTACKS: dict[str, Attack] = {
    # Strings that grow
    "concat-100-nested": Attack(
        f"SELECT * {{ :i :large ?z . ?s :p ?o BIND({_nested('CONCAT(?z, {})'.format, '?z', 100)} AS ?x) }}",
        partial(large, 300, MEGABYTE),
        ANSWERS,
    ),
    "concat-of-100": Attack(
        f"SELECT * {{ :i :large ?z . ?s :p ?o BIND(CONCAT({', '.join(['?z'] * 100)}, STR(?s)) AS ?x) }}",
        partial(large, 300, MEGABYTE),
        ANSWERS,
    ),
    "bind-doubling": Attack(
        f"SELECT * {{ ?s :p ?o {_binds('STR(?s)', 'CONCAT(?v, ?v)', 40)} }}", partial(rows, 300), ANSWERS
    ),
    "bind-doubling-filtered": Attack(
        f"SELECT ?s {{ ?s :p ?o {_binds('STR(?s)', 'CONCAT(?v, ?v)', 40)} FILTER(STRLEN(?v40) > 7) }}",
        partial(rows, 300),
        ALWAYS,
    ),
    "select-doubling": Attack(
        "SELECT "
        + " ".join(f"(CONCAT(?v{number}, ?v{number}) AS ?v{number + 1})" for number in range(40))
        + " { ?v0 :says ?x . ?s :p ?o }",
        partial(rows, 300),
    ),
    "group-concat-long-separator": Attack(
        f'SELECT (GROUP_CONCAT(STR(?o); SEPARATOR="{"x" * 10_000}") AS ?all) {{ ?s :p ?o . ?t :p ?u }}',
        partial(rows, 300),
        ANSWERS,
    ),
    "group-concat-of-large": Attack(
        "SELECT (STRLEN(GROUP_CONCAT(?z)) AS ?length) { :i :large ?z . ?s :p ?o } HAVING(?length > 1)",
        partial(large, 3_000),
    ),
    "ucase-of-large-for-each-row": Attack(
        "SELECT * { :i :large ?z . ?s :p ?o BIND(UCASE(?z) AS ?x) }", partial(large, 3_000), frozenset({BATCH})
    ),
    "ucase-of-large-in-a-filter": Attack(
        'SELECT ?s { :i :large ?z . ?s :p ?o FILTER(CONTAINS(CONCAT(UCASE(?z), STR(?s)), "b")) }',
        partial(large, 3_000),
        ALWAYS,
    ),
    "replace-that-grows": Attack(
        f"SELECT * {{ :i :large ?z BIND({_nested(_longer, '?z', 4)} AS ?x) }}",
        partial(large, 300, 10_000),
        ANSWERS,
    ),
    "replace-with-groups": Attack(
        'SELECT * { :i :large ?z BIND(REPLACE(?z, "(.)", "$1$1$1$1$1$1$1$1$1$1") AS ?x) '
        'BIND(REPLACE(?x, "(.)", "$1$1$1$1$1$1$1$1$1$1") AS ?y) }',
        partial(large, 300),
        ANSWERS,
    ),
    "encode-for-uri-of-large": Attack(
        "SELECT * { :i :large ?z . ?s :p ?o BIND(ENCODE_FOR_URI(CONCAT(?z, STR(?s))) AS ?x) }",
        partial(large, 3_000, MEGABYTE, "é"),
        ANSWERS,
    ),
    "substr-of-large": Attack(
        "SELECT * { :i :large ?z . :s0 :n ?n . ?s :n ?m BIND(SUBSTR(?z, ?m) AS ?x) }",
        lambda: (line for part in (large(0), numbered(3_000)) for line in part),
        ANSWERS,
    ),
    "sha512-of-large-for-each-row": Attack(
        'SELECT ?s { :i :large ?z . ?s :p ?o FILTER(STRSTARTS(SHA512(CONCAT(?z, STR(?s))), "x")) }',
        partial(large, 3_000),
        ALWAYS,
    ),
    "regex-on-large": Attack(
        'SELECT ?s { :i :large ?z . ?s :p ?o FILTER(REGEX(CONCAT(?z, STR(?s)), "(a|aa)+b(a|aa)+c")) }',
        partial(large, 3_000),
        ALWAYS,
    ),
    "answers-that-repeat-a-large-literal": Attack(
        "SELECT * { :i :large ?z . ?s :p ?o }", partial(large, 3_000), frozenset({BATCH})
    ),
    "residual-answers-that-repeat-a-large-literal": Attack(
        "SELECT * { :i :large ?z . ?s :p ?o OPTIONAL { ?o :says ?w } }", partial(large, 3_000), frozenset({BATCH})
    ),
    # Numbers that grow
    "integer-squares": Attack(f"SELECT * {{ :s7 :n ?n {_binds('?n', '?v * ?v', 40)} }}", partial(numbered, 300)),
    "decimal-squares": Attack(f"SELECT * {{ :s7 :n ?n {_binds('?n + 0.1', '?v * ?v', 40)} }}", partial(numbered, 300)),
    # Rows that multiply
    "cross-product": Attack(f"SELECT * {{ {CROSS} }}", partial(rows, 300), ANSWERS),
    "cross-product-of-3500": Attack("SELECT * { ?a ?b ?c . ?d ?e ?f }", partial(rows, 3_500), ANSWERS),
    "cross-product-with-residual": Attack(
        f"SELECT * {{ {CROSS} OPTIONAL {{ ?a :says ?x }} }}", partial(rows, 300), ANSWERS
    ),
    "cross-product-filtered": Attack(
        f"SELECT * {{ {CROSS} FILTER(CONCAT(STR(?a), STR(?d)) = STR(?i)) }}", partial(rows, 300), ALWAYS
    ),
    "distinct-over-wide-rows": Attack(
        f"SELECT DISTINCT * {{ {CROSS} OPTIONAL {{ ?a :says ?x }} }}", partial(rows, 300), ANSWERS
    ),
    "order-by-over-many-rows": Attack(
        f"SELECT * {{ {CROSS} }} ORDER BY STR(?c) ?f DESC(?i)", partial(rows, 300), ANSWERS
    ),
    "order-by-limit-1": Attack(f"SELECT * {{ {CROSS} }} ORDER BY STR(?c) ?f LIMIT 1", partial(rows, 300)),
    "offset-beyond": Attack(f"SELECT * {{ {CROSS} }} OFFSET 999999999999999999", partial(rows, 300)),
    "count-of-a-cross-product": Attack(
        f"SELECT (COUNT(DISTINCT CONCAT(STR(?a), STR(?f))) AS ?n) {{ {CROSS} }} HAVING(?n > 5)", partial(rows, 300)
    ),
    "construct-over-many-answers": Attack(
        "CONSTRUCT { ?a :q ?d . ?a :r [ :s ?d ; :t ?c ] . ?d :u ?a . ?d :v [] } { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }",
        partial(rows, 300),
        ANSWERS,
    ),
    "nested-optionals": Attack(
        "SELECT * { ?a ?b ?c OPTIONAL { ?d ?e ?f OPTIONAL { ?g ?h ?i OPTIONAL { ?j ?k ?l } } } }",
        partial(rows, 300),
        ANSWERS,
    ),
    "optionals-in-a-row": Attack(
        "SELECT * { ?a :p ?c " + " ".join(f"OPTIONAL {{ ?x{number} :p ?y{number} }}" for number in range(12)) + " }",
        partial(rows, 300),
        ANSWERS,
    ),
    "sub-selects-crossed": Attack(
        "SELECT * { { SELECT ?a { ?a ?b ?c } } { SELECT ?d { ?d ?e ?f } } { SELECT ?g { ?g ?h ?i } } }",
        partial(rows, 300),
        ANSWERS,
    ),
    "values-crossed": Attack(
        "SELECT * { ?s :p ?o "
        + " ".join(f"VALUES ?{name} {{ {' '.join(f':{name}{number}' for number in range(3_000))} }}" for name in "abc")
        + " }",
        partial(rows, 300),
        ANSWERS,
    ),
    "values-joined": Attack(
        f"SELECT * {{ VALUES (?s ?o) {{ {NAMED} }} ?s :p ?o }}",
        partial(rows, 3_000),
    ),
    "unions-multiplied": Attack(
        "SELECT * { " + " ".join(f"{{ ?a ?b ?x{n} }} UNION {{ ?x{n} ?b ?a }}" for n in range(12)) + " }",
        partial(clique, 18),
    ),
    "in-with-9000-members": Attack(
        f"SELECT * {{ ?s :p ?o OPTIONAL {{ ?o :says ?x }} FILTER(STR(?s) IN ({MEMBERS})) }}", partial(rows, 3_000)
    ),
    "in-with-9000-members-in-a-core": Attack(
        f"SELECT * {{ ?s :p ?o FILTER(?s IN ({MEMBERS})) }}", partial(rows, 3_000)
    ),
    "minus-over-optional-variables": Attack(
        "SELECT * { ?a :p ?b OPTIONAL { ?a :q ?c } OPTIONAL { ?b :q ?d } "
        "MINUS { ?a :p ?x OPTIONAL { ?x :q ?c } OPTIONAL { ?x :r ?d } FILTER(?x != ?a) OPTIONAL { ?y :q ?b } } }",
        partial(rows, 3_000),
    ),
    "minus-without-common-variables": Attack(
        "SELECT * { ?a :p ?b MINUS { ?c :p ?d . ?e :p ?f . ?g :p ?h } }", partial(rows, 1_000)
    ),
    # EXISTS where it is asked for each row
    "exists-in-bind": Attack(
        "SELECT * { ?a :p ?b BIND(EXISTS { ?d ?e ?f . ?g ?h ?i FILTER(CONCAT(STR(?d), STR(?a)) = STR(?i)) } AS ?x) }",
        partial(rows, 1_000),
        ANSWERS,
    ),
    "exists-in-select": Attack(
        "SELECT ?a (EXISTS { ?d ?e ?f . ?g ?h ?i FILTER(CONCAT(STR(?d), STR(?a)) = STR(?i)) } AS ?x) { ?a :p ?b }",
        partial(rows, 1_000),
        ANSWERS,
    ),
    "exists-in-having": Attack(
        "SELECT ?a { ?a :p ?b } GROUP BY ?a "
        "HAVING(EXISTS { ?d ?e ?f . ?g ?h ?i FILTER(CONCAT(STR(?d), STR(?a)) = STR(?i)) })",
        partial(rows, 1_000),
        ALWAYS,
    ),
    "exists-in-order-by": Attack(
        "SELECT ?a { ?a :p ?b } ORDER BY (EXISTS { ?d ?e ?f . ?g ?h ?i FILTER(CONCAT(STR(?d), STR(?a)) = STR(?i)) })",
        partial(rows, 1_000),
    ),
    "exists-in-filter": Attack(
        "SELECT ?a { ?a :p ?b FILTER EXISTS { ?d ?e ?f . ?g ?h ?i FILTER(CONCAT(STR(?d), STR(?a)) = STR(?i)) } }",
        partial(rows, 1_000),
        ALWAYS,
    ),
    "aggregate-inside-exists": Attack(
        "SELECT ?a { ?a :p ?b FILTER EXISTS { SELECT ?d (COUNT(*) AS ?n) { ?d :p ?f . ?g :p ?i } GROUP BY ?d "
        "HAVING(COUNT(*) > 99999) } }",
        partial(rows, 1_000),
    ),
    "minus-inside-exists": Attack(
        "SELECT ?a { ?a :p ?b FILTER EXISTS { ?a :p ?b "
        "MINUS { ?x :p ?y . ?z :p ?w FILTER(STR(?x) = STR(?w)) ?a :p ?b } } }",
        partial(rows, 1_000),
    ),
    "exists-inside-exists": Attack(
        "SELECT ?a { ?a :p ?b FILTER EXISTS { ?c :p ?d FILTER EXISTS { ?e :p ?f FILTER EXISTS { ?g :p ?h "
        "FILTER(CONCAT(STR(?a), STR(?c), STR(?e)) = STR(?g)) } } } }",
        partial(rows, 1_000),
        ALWAYS,
    ),
    # Named graphs
    "one-triple-in-many-graphs": Attack(
        "SELECT * { GRAPH ?g { ?a ?b ?c } GRAPH ?h { ?a ?b ?d } GRAPH ?i { ?e ?b ?d } }",
        partial(graphs, 3_000),
        ANSWERS,
    ),
    "empty-graph-four-times": Attack(
        "SELECT * { GRAPH ?g {} GRAPH ?h {} GRAPH ?i {} GRAPH ?j {} }", partial(graphs, 300), ANSWERS
    ),
    # Paths
    "four-steps-starred-on-a-clique": Attack("SELECT * { ?a (:p/:p/:p/:p)* ?b }", partial(clique, 60)),
    "four-steps-on-a-clique": Attack("SELECT * { ?a :p/:p/:p/:p ?b }", partial(clique, 60), ANSWERS),
    "stars-of-stars": Attack("SELECT * { ?a (((:p*)*|(^:p)*)*)* ?b . ?c (:p+)+ ?d }", partial(clique, 60), ANSWERS),
    "negated-sets-in-a-row": Attack(
        "SELECT * { ?a !(:z) ?b . ?b !(:z) ?c . ?c !(:z|^:p) ?d }", partial(clique, 60), ANSWERS
    ),
    "plus-over-a-chain-of-3500": Attack("SELECT * { ?a :p+ ?b }", partial(chain, 3_500), ANSWERS),
    "both-ways-over-a-chain": Attack("SELECT * { ?a (:p|^:p)* ?b }", partial(chain, 3_500), ANSWERS),
    "plus-from-a-constant-over-a-chain-of-20000": Attack("SELECT * { :c0 :p+ ?b }", partial(chain, 20_000)),
    "optional-steps-in-a-row": Attack(f"SELECT * {{ ?a {'/'.join([':p?'] * 40)} ?b }}", partial(clique, 18), ANSWERS),
    "path-without-a-visible-variable": Attack("SELECT * { <urn:x> (<urn:p>?|<urn:q>) <urn:y> }", partial(rows, 300)),
    "zero-length-path-crossed": Attack("SELECT * { ?a :z* ?b . ?c :z* ?d . ?e :z* ?f }", partial(rows, 300), ANSWERS),
    # What follows from an event
    "transitive-chain-of-2000": Attack(
        "SELECT * { ?a :p ?b }", partial(chain, 2_000), ontology=TRANSITIVE, event_may_be_refused=True
    ),
    "transitive-chain-of-100000": Attack(
        "SELECT * { ?a :p ?b }", partial(chain, 100_000), ontology=TRANSITIVE, event_may_be_refused=True
    ),
    # Texts that are large or deep
    "groups-in-groups": Attack("SELECT * " + "{ " * 3_000 + "?a :p ?b" + " }" * 3_000, partial(rows, 300)),
    "parentheses": Attack(f"SELECT * {{ ?a :p ?b FILTER({'(' * 3_000}?a = ?b{')' * 3_000}) }}", partial(rows, 300)),
    "long-disjunction": Attack(
        f"SELECT * {{ ?a :p ?b OPTIONAL {{ ?b :says ?x }} FILTER({TESTS}) }}",
        partial(rows, 3_000),
    ),
    "describe-everything": Attack("DESCRIBE * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }", partial(rows, 300), ANSWERS),
}
