"""Cases for the whole SPARQL query language, each drawn from one seed: an ontology, events, and queries.

The generator follows the specification (SPARQL 1.1, and of 1.2 what `Features.rdf12` adds), not an implementation. It
reaches every operator, path form, function and query form. It keeps the rules on scope (sections 18.2.1 and 19.8), so
every query must be accepted. Left out is what a subscription refuses on purpose: SERVICE, FROM, `!()`, and ill-typed
literals in the query (events have them).

Where the specification leaves a choice, a query says so, and a judge compares only what is determined:

- the columns named `?loose…` depend on the order of solutions (SAMPLE, GROUP_CONCAT, MIN and MAX of equal values),
- `Query.compare` is COUNT for LIMIT and OFFSET without a total order, SET for REDUCED, GRAPH for
  CONSTRUCT and DESCRIBE, and ROWS else.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from sparql_expressions import Expressions
from sparql_terms import (
    ABSENT,
    CLASSES,
    INDIVIDUALS,
    OFTEN,
    PROPERTIES,
    RDF,
    Data,
    Features,
    data,
    event_text,
    ontology_text,
)

POOL = ("?a", "?b", "?c", "?d", "?e")
"""The variables of patterns. Computed values get names of their own."""


class Compare(Enum):
    """What of the answers is determined."""

    ROWS = "rows"
    SET = "set"
    COUNT = "count"
    GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class Query:
    """A query, and how its answers can be compared."""

    text: str
    compare: Compare = Compare.ROWS


@dataclass(frozen=True, slots=True)
class Cases:
    """Queries over a few events: every query with every event is a case."""

    seed: int
    ontology: str
    events: tuple[str, ...]
    queries: tuple[Query, ...]

    def __len__(self) -> int:
        return len(self.events) * len(self.queries)


def cases(seed: int, *, queries: int = 25, events: int = 10, features: Features = Features()) -> Cases:  # noqa: B008
    """Return what the seed stands for."""
    chance = random.Random(seed)
    drawn = data(chance, features)
    return Cases(
        seed,
        ontology_text(chance, features),
        tuple(event_text(chance, drawn) for _ in range(events)),
        tuple(Asking(chance, drawn).query() for _ in range(queries)),
    )


class Asking:
    """Draws one query. Texts of groups come with the set of variables that are in scope after them."""

    def __init__(self, chance: random.Random, drawn: Data) -> None:
        self._chance = chance
        self._data = drawn
        self._features = drawn.features
        self._expressions = Expressions(chance, drawn)
        self._fresh = 0

    def query(self) -> Query:
        """Draw a query of any form."""
        form = self._chance.random()
        if form < 0.76:
            return self._select()
        if form < 0.84:
            where, scope = self._where()
            return Query(f"ASK {where}{self._trailing_values(scope)}")
        if form < 0.95 or self._features.plain:
            return self._construct()
        return self._describe()

    # Query forms

    def _select(self) -> Query:
        where, scope = self._where()
        kind = self._chance.random()
        if kind < 0.25:
            return Query(self._grouped(where, scope, inside=False))
        if kind < 0.33:
            return Query(self._cut_exactly(where, scope))
        compare, distinct = Compare.ROWS, self._chance.choice(["", "", "", "DISTINCT "])
        if not self._features.plain and self._chance.random() < 0.05:
            compare, distinct = Compare.SET, "REDUCED "
        projection, order = self._projection(scope), self._order(scope)
        cut = ""
        if self._chance.random() < 0.1 and compare is Compare.ROWS:
            compare = Compare.COUNT
            cut = self._chance.choice([" LIMIT 2", " OFFSET 1", " LIMIT 3 OFFSET 1", " OFFSET 2 LIMIT 1", " LIMIT 0"])
        return Query(f"SELECT {distinct}{projection} {where}{order}{cut}{self._trailing_values(scope)}", compare)

    def _projection(self, scope: set[str]) -> str:
        if not scope or self._chance.random() < 0.4:
            return "*" if scope else f"({self._expressions.value(POOL)} AS {self._new()})"
        chosen, known = self._some(scope), sorted(scope)
        exists = self._exists if not self._features.plain else None
        for _ in range(self._chance.choice([0, 0, 1, 1, 2])):
            name = self._new()
            chosen.append(f"({self._expressions.value(known, exists=exists)} AS {name})")
            known.append(name)
        return " ".join(chosen)

    def _grouped(self, where: str, scope: set[str], *, inside: bool) -> str:
        """Draw an aggregating SELECT; `inside` others, only what is determined may be among its columns."""
        keys, names = list[str](), list[str]()
        for variable in self._some(scope) if scope and self._chance.random() < 0.7 else []:
            drawn = self._chance.random()
            if drawn < 0.75 or self._features.plain:
                keys.append(variable)
                names.append(variable)
            elif drawn < 0.9:
                names.append(self._new())
                keys.append(f"({self._expressions.value(sorted(scope))} AS {names[-1]})")
            else:
                keys.append(f"({self._expressions.value(sorted(scope))})")
        columns = [name for name in names if self._chance.random() < 0.8]
        inner = sorted(scope) or list(POOL)
        for _ in range(self._chance.choice([1, 1, 2, 3])):
            if not inside and self._chance.random() < 0.3:
                columns.append(f"({self._loose_aggregate(inner)} AS ?loose{len(columns)})")
                continue
            columns.append(f"({self._aggregate(inner)} AS {self._new()})")
            if self._chance.random() < 0.3:
                counted = columns[-1].rpartition(" AS ")[2][:-1]
                columns.append(f"({self._expressions.value([counted, *names], 1)} AS {self._new()})")
        text = f"SELECT {' '.join(columns)} {where}"
        if keys:
            text += f" GROUP BY {' '.join(keys)}"
        if self._chance.random() < 0.35:
            text += f" HAVING({self._aggregate_test(inner)})"
            if self._chance.random() < 0.2:
                text += f" ({self._aggregate_test(inner)})"
            if self._chance.random() < 0.15 and names and not self._features.plain:
                text += f" ({self._expressions.test(names, 1, self._exists)})"
        if self._chance.random() < 0.15 and not inside and not self._features.plain:
            text += f" ORDER BY {self._chance.choice(['ASC', 'DESC'])}({self._aggregate(inner)})"
        return text

    def _aggregate(self, variables: list[str]) -> str:
        """Draw an aggregate whose value does not depend on the order of solutions."""
        distinct = self._chance.choice(["", "DISTINCT "])
        patterned = [each for each in variables if each in POOL] or list(POOL)
        variable = self._chance.choice(patterned)
        if self._features.plain:
            return self._chance.choice([f"COUNT({distinct}{variable})", "COUNT(*)"])
        return self._chance.choice(
            [
                f"COUNT({distinct}{variable})",
                f"COUNT({distinct}*)",
                f"COUNT({distinct}{self._expressions.value(variables)})",
                f"SUM({distinct}{variable})",
                f"AVG({distinct}{variable})",
                f"SUM({distinct}STRLEN(STR({variable})))",
                f"MIN(STR({variable}))",
                f"MAX(STRLEN(STR({variable})))",
                f"AVG(STRLEN(STR({variable})))",
                f'STRLEN(GROUP_CONCAT({distinct}{variable}; SEPARATOR="--"))',
                f"STRLEN(GROUP_CONCAT({distinct}STR({variable})))",
                f"SUM({distinct}{variable}) / COUNT({variable})",
                f"COALESCE(SUM({variable}), 'error')",
            ]
        )

    def _loose_aggregate(self, variables: list[str]) -> str:
        variable, distinct = self._chance.choice(variables), self._chance.choice(["", "DISTINCT "])
        name = self._chance.choice(["SAMPLE", "MIN", "MAX", "GROUP_CONCAT"])
        if name == "GROUP_CONCAT":
            return f'GROUP_CONCAT({distinct}STR({variable}); SEPARATOR=",")'
        return f"{name}({distinct}{variable})"

    def _aggregate_test(self, variables: list[str]) -> str:
        return (
            f"{self._aggregate(variables)} {self._chance.choice(['>', '<=', '!=', '='])} {self._chance.choice('0123')}"
        )

    def _cut_exactly(self, where: str, scope: set[str]) -> str:
        """Draw a LIMIT whose rows are determined: strings, which have a total order, in that order."""
        variable, name = self._chance.choice(sorted(scope) or list(POOL)), self._new()
        direction = self._chance.choice(["ASC", "DESC"])
        distinct = self._chance.choice(["", "DISTINCT "])
        cut = self._chance.choice(["LIMIT 2", "OFFSET 1", "LIMIT 2 OFFSET 1"])
        return f"SELECT {distinct}(STR({variable}) AS {name}) {where} ORDER BY {direction}({name}) {cut}"

    def _construct(self) -> Query:
        where, scope = self._where()
        if self._chance.random() < 0.2:
            triples = " . ".join(self._simple_triple(set()) for _ in range(self._chance.randint(1, 2)))
            return Query(f"CONSTRUCT WHERE {{ {triples} }}", Compare.GRAPH)
        ends = [*sorted(scope), "<urn:i0>", "_:made", "[]"]
        objects = [*ends, *self._data.constants[:2], '[ <urn:q1> "x" ]']
        verbs = ["<urn:q0>", "<urn:p0>", *sorted(scope)]
        template = [
            f"{self._chance.choice(ends)} {self._chance.choice(verbs)} {self._chance.choice(objects)}"
            for _ in range(self._chance.randint(1, 3))
        ]
        return Query(f"CONSTRUCT {{ {' . '.join(template)} }} {where}", Compare.GRAPH)

    def _describe(self) -> Query:
        if self._chance.random() < 0.3:
            return Query(f"DESCRIBE {self._chance.choice((*INDIVIDUALS, ABSENT))}", Compare.GRAPH)
        where, scope = self._where()
        return Query(f"DESCRIBE {' '.join(self._some(scope)) or '<urn:i1>'} {where}", Compare.GRAPH)

    def _order(self, scope: set[str]) -> str:
        if self._chance.random() < 0.8:
            return ""
        variable = self._chance.choice(sorted(scope) or list(POOL))
        if self._features.plain:
            return f" ORDER BY {variable}"
        return self._chance.choice(
            [
                f" ORDER BY {variable}",
                f" ORDER BY DESC({variable}) ?a",
                f" ORDER BY ({self._expressions.value(POOL, 1)})",
                f" ORDER BY (EXISTS {self._exists()}) STR({variable})",
            ]
        )

    def _trailing_values(self, scope: set[str]) -> str:
        return f" {self._values(scope)[0]}" if self._chance.random() < 0.08 and scope else ""

    # Patterns

    def _where(self) -> tuple[str, set[str]]:
        return self._group(self._chance.choice([1, 2, 2, 3]), set())

    def _group(self, depth: int, outer: set[str]) -> tuple[str, set[str]]:
        """Draw a group; `outer` are variables of the surroundings, which its expressions may name as well."""
        if depth > 0 and self._chance.random() < 0.04:
            return self._subselect(depth)
        parts, scope = list[str](), set[str]()
        for position in range(self._chance.choice([1, 1, 2, 2, 3])):
            text, bound = self._element(depth, scope, outer, first=position == 0)
            parts.append(text)
            scope |= bound
        return f"{{ {' '.join(parts)} }}", scope

    def _element(self, depth: int, scope: set[str], outer: set[str], *, first: bool) -> tuple[str, set[str]]:
        kind = self._chance.random()
        if depth <= 0 or kind < (0.75 if first else 0.25):
            return self._block(scope | outer)
        known = sorted(scope | outer) or list(POOL)
        choices = ["optional", "optional", "union", "minus", "filter", "filter", "bind", "values", "subselect", "group"]
        if self._features.named_graphs:
            choices.append("graph")
        match self._chance.choice(choices):
            case "optional":
                text, bound = self._group(depth - 1, scope | outer)
                if self._chance.random() < 0.3 and not text.startswith("{ SELECT"):
                    variables = sorted(scope | bound) or list(POOL)
                    text = f"{text[:-1]} FILTER({self._expressions.test(variables)}) }}"
                return f"OPTIONAL {text}", bound
            case "union":
                branches = [self._group(depth - 1, outer | scope) for _ in range(self._chance.choice([2, 2, 3]))]
                return " UNION ".join(text for text, _ in branches), set().union(*(bound for _, bound in branches))
            case "minus":
                return f"MINUS {self._group(depth - 1, scope)[0]}", set()
            case "filter":
                return f"FILTER({self._expressions.test(known, exists=lambda: self._exists(depth - 1, scope))})", set()
            case "bind":
                variable = self._new()
                expression = self._expressions.value(known, exists=None if self._features.plain else self._exists)
                if self._chance.random() < 0.05 and not self._features.plain:
                    expression = "BNODE()"
                return f"BIND({expression} AS {variable})", {variable}
            case "values":
                return self._values(scope)
            case "subselect":
                text, bound = self._subselect(depth - 1)
                return text, bound
            case "graph":
                return self._graph(depth - 1, scope | outer)
            case _:
                return self._group(depth - 1, scope)

    def _graph(self, depth: int, known: set[str]) -> tuple[str, set[str]]:
        name = self._chance.choice(["?g", "?g", "?a", "<urn:g0>", "<urn:g1>", ABSENT])
        inner, bound = ("{}", set()) if self._chance.random() < 0.15 else self._group(depth, known)
        return f"GRAPH {name} {inner}", bound | ({name} if name.startswith("?") else set())

    def _subselect(self, depth: int) -> tuple[str, set[str]]:
        where, scope = self._group(depth, set())
        kind = self._chance.random()
        if kind < 0.35 and not (self._features.plain and not scope):
            text = self._grouped(where, scope, inside=True)
            columns = text[len("SELECT ") : text.index(where)]
            bound = {word.rstrip(")") for word in _columns(columns)}
        elif kind < 0.55:
            text = self._cut_exactly(where, scope)
            bound = {text.split(" AS ")[1].split(")")[0]}
        else:
            chosen = self._some(scope) or ["*"]
            if not scope:
                chosen = [f"(1 AS {self._new()})"]
                bound = {chosen[0][6:-1]}
            else:
                bound = set(chosen)
            text = f"SELECT {self._chance.choice(['', 'DISTINCT '])}{' '.join(chosen)} {where}"
        return f"{{ {text} }}", bound

    def _exists(self, depth: int = 1, known: Iterable[str] = ()) -> str:
        return self._group(max(0, min(depth, 1)), set(known))[0]

    def _values(self, scope: set[str]) -> tuple[str, set[str]]:
        candidates = sorted(each for each in scope if each in POOL) or list(POOL)
        variables = self._chance.sample(candidates, min(len(candidates), self._chance.choice([1, 1, 2])))

        def value() -> str:
            drawn = self._chance.random()
            if drawn < 0.15:
                return "UNDEF"
            return self._chance.choice(INDIVIDUALS if drawn < 0.5 else self._data.constants)

        count = self._chance.randint(0, 3)
        if len(variables) == 1 and self._chance.random() < 0.6:
            return f"VALUES {variables[0]} {{ {' '.join(value() for _ in range(count))} }}", set(variables)
        rows = [f"({' '.join(value() for _ in variables)})" for _ in range(count)]
        return f"VALUES ({' '.join(variables)}) {{ {' '.join(rows)} }}", set(variables)

    def _block(self, known: set[str]) -> tuple[str, set[str]]:
        """Draw one to three triples, or a path; the first is mostly linked to what is known."""
        bound = set[str]()
        triples = list[str]()
        for _ in range(self._chance.choice([1, 1, 1, 1, 1, 2, 2, 3])):
            drawn = self._chance.random()
            text = self._path_triple(known | bound) if drawn < 0.2 else self._triple(known | bound)
            triples.append(text)
            bound |= _variables(text)
        return " . ".join(triples) + " .", bound

    def _triple(self, known: set[str]) -> str:
        drawn = self._chance.random()
        if drawn < 0.06:
            label = f"_:l{self._number()}"
            return f"{label} {self._verb()} {self._object(known)} . {self._subject(known)} {self._verb()} {label}"
        if drawn < 0.1:
            return f"[] {self._verb()} {self._object(known)}"
        if drawn < 0.14:
            return f"{self._subject(known)} {self._verb()} [ {self._verb()} {self._object(known)} ]"
        if drawn < 0.2:
            return f"{self._simple_triple(known)} ; {self._verb()} {self._object(known)}"
        if drawn < 0.24:
            return f"{self._simple_triple(known)} , {self._object(known)}"
        if self._features.rdf12 and drawn < 0.32:
            return f"{self._subject(known)} {self._verb()} <<( {self._subject(known)} {self._verb()} ?o )>>"
        return self._simple_triple(known)

    def _simple_triple(self, known: set[str]) -> str:
        verb = self._verb()
        if verb == "a" and self._chance.random() < 0.7:
            return f"{self._subject(known)} a {self._chance.choice(CLASSES)}"
        subject, object_ = self._subject(known), self._object(known)
        if subject == object_ and self._chance.random() < 0.9:
            object_ = self._chance.choice(POOL)  # few things have an arc to themselves
        return f"{subject} {verb} {object_}"

    def _subject(self, known: set[str]) -> str:
        drawn = self._chance.random()
        if drawn < 0.06:
            return self._chance.choice((*INDIVIDUALS, ABSENT))
        patterned = sorted(each for each in known if each in POOL)
        return self._chance.choice(patterned) if patterned and drawn < 0.75 else self._chance.choice(POOL[:3])

    def _verb(self) -> str:
        drawn = self._chance.random()
        if drawn < 0.1:
            return "?p"
        return "a" if drawn < 0.2 else self._chance.choice(OFTEN)

    def _object(self, known: set[str]) -> str:
        drawn = self._chance.random()
        if drawn < 0.06:
            return self._chance.choice(self._data.constants)
        if drawn < 0.12:
            return self._chance.choice((*INDIVIDUALS, *CLASSES))
        return self._chance.choice(sorted(known)) if known and drawn < 0.3 else self._chance.choice(POOL)

    def _path_triple(self, known: set[str]) -> str:
        path = self._path(2)
        # A single arc from a literal is refused as a slip of the pen.
        start = self._subject(known) if path.startswith("<") else self._end(known)
        return f"{start} {path} {self._end(known)}"

    def _end(self, known: set[str]) -> str:
        if self._chance.random() < 0.2:
            return self._chance.choice((*INDIVIDUALS, ABSENT, self._data.constants[0], '"zzz"'))
        return self._subject(known)

    def _path(self, depth: int) -> str:
        if depth == 0:
            return self._chance.choice([*OFTEN, f"<{RDF}type>", f"^{self._chance.choice(OFTEN)}"])
        one, two = self._path(depth - 1), self._path(depth - 1)
        negated = self._chance.sample([*PROPERTIES, *(f"^{each}" for each in PROPERTIES), "a", "^a"], 2)
        return self._chance.choice(
            [
                self._path(0),
                f"^({one})",
                f"({one}/{two})",
                f"({one}|{two})",
                f"({one})?",
                f"({one})*",
                f"({one})+",
                f"!{negated[0]}",
                f"!({negated[0]}|{negated[1]})",
                f"!({negated[1]})",
            ]
        )

    # Names

    def _some(self, scope: set[str]) -> list[str]:
        named = sorted(scope)
        return self._chance.sample(named, self._chance.randint(1, min(3, len(named)))) if named else []

    def _number(self) -> int:
        self._fresh += 1
        return self._fresh

    def _new(self) -> str:
        return f"?n{self._number()}"


def _columns(projection: str) -> list[str]:
    """Return the names that a projection gives."""
    names, depth, start = list[str](), 0, 0
    for position, letter in enumerate(projection + " "):
        depth += (letter == "(") - (letter == ")")
        if letter == " " and depth == 0:
            item = projection[start:position].strip()
            if item:
                names.append(item.rpartition(" AS ")[2])
            start = position
    return names


def _variables(text: str) -> set[str]:
    """Return the variables that stand in a block."""
    return {word.strip("()[];,.") for word in text.split() if word.startswith("?")}
