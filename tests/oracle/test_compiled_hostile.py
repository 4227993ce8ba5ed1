"""The compiled matcher where it is hardest for it: crowds of unlike subscriptions at once, and hostile ones.

The crowds are held to the naive matcher. Hostile subscriptions and events are judged by counting: a budget must end
them, they alone may go without an answer, and all others get theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from random import Random

import pyarrow as pa
import pyoxigraph
import pytest
from pyoxigraph import RdfFormat

from ontosub.matching import naive as naive_algorithm
from ontosub.matching.batch import Batch
from ontosub.matching.compiled import mappings as compiled_mappings
from ontosub.matching.compiled.algorithm import Compiled
from ontosub.matching.naive import Naive
from ontosub.model import Arc, Event, Filter, GraphPattern, Ontology, Subscription, Vertex
from ontosub.model.expression import Call, Expression, Function
from ontosub.model.terms import (
    HOME,
    OWL,
    RDFS,
    TYPE,
    XSD,
    BlankNode,
    Literal,
    NamedNode,
    PatternTerm,
    Term,
    Triple,
    Variable,
)
from ontosub.semantics import Entailment, EventGraph
from ontosub.semantics.budget import Budget

# One worker compiles the kernels for all of these tests.
pytestmark = pytest.mark.xdist_group("compiled")

P, Q = NamedNode("urn:p"), NamedNode("urn:q")
A, B, C, D, E, F = (Variable(name) for name in "abcdef")


def typed(text: str, datatype: str) -> Literal:
    return Literal(text, datatype=XSD[datatype])


def named(number: object) -> NamedNode:
    return NamedNode(f"urn:n{number}")


def answers(algorithm, event: Event) -> dict[str, Counter]:
    """Return, by subscription, how often each answer is given."""
    return {
        match.subscription_id: Counter(
            frozenset((name, str(term)) for name, term in binding.items()) for binding in match.bindings
        )
        for match in algorithm.match(event)
    }


class World:
    """A vocabulary, and what can be said in it at random: wider, deeper and more entangled than `generators`.

    Patterns are mostly cut out of an event and made more general, so that they match; most of them come in many
    variants that differ only in constants, as the subscriptions of one form do.
    """

    CLASSES = tuple(NamedNode(f"urn:w#C{i}") for i in range(90))
    PROPERTIES = tuple(NamedNode(f"urn:w#p{i}") for i in range(80))
    INDIVIDUALS = tuple(NamedNode(f"urn:w#i{i}") for i in range(14))
    BLANKS = (HOME, *(BlankNode(f"b{i}") for i in range(6)))
    NUMBERS = (
        *(typed(str(i), "integer") for i in range(-2, 9)),
        *(typed(text, "decimal") for text in ("3.0", "3.5", "3.00", "0.1")),
        *(typed(text, "double") for text in ("5.0E0", "-0.0", "NaN", "INF", "0.1")),
        *(typed(text, "integer") for text in ("abc", "123456789012345678901", " 4 ", "+4", "9007199254740993")),
        *(typed(text, "float") for text in ("3", "0.1")),
        typed("300", "byte"),
        typed("07", "int"),
    )
    TIMES = (
        *(typed(text, "date") for text in ("2024-05-01", "2024-05-02", "2024-05-01Z")),
        *(typed(f"2024-05-01T10:00:00{zone}", "dateTime") for zone in ("Z", "", ".5Z", "+02:00", "+14:00")),
        *(typed(text, "boolean") for text in ("true", "false", "1")),
        typed("P1D", "duration"),
        typed("bad", "dateTime"),
    )
    STRINGS = (
        *(
            Literal(text)
            for text in ("", "red", "Red", "redder", "3", "4e0", "Straße", 'a"b\n\\', "\u0001", "\U0001f600x")
        ),
        Literal("red", language="en"),
        Literal("rot", language="de-at"),
        Literal("true", datatype=NamedNode("urn:w#other")),
    )
    TOPS = (OWL["Thing"], RDFS["Resource"], RDFS["Literal"], XSD["decimal"], XSD["string"])
    VARIABLES = tuple(Variable(f"v{i}") for i in range(8))
    ORDERS = (Function.LESS, Function.LESS_OR_EQUAL, Function.GREATER, Function.GREATER_OR_EQUAL)
    EQUALITIES = (Function.EQUAL, Function.NOT_EQUAL)
    KINDS = (Function.IS_IRI, Function.IS_BLANK, Function.IS_LITERAL, Function.IS_NUMERIC)

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.literals = [*self.NUMBERS, *self.TIMES, *self.STRINGS]
        self.ontology = self._ontology()
        self.entailment = Entailment(self.ontology)
        self.events = [self._event(f"e{number}") for number in range(3)]

    def some(self, members: Iterable, most: int) -> list:
        """Return a few of the members, each at most once."""
        members = list(members)
        return self.random.sample(members, self.random.randint(0, min(most, len(members))))

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def _ontology(self) -> Ontology:
        choice, classes, properties = self.random.choice, self.CLASSES, self.PROPERTIES

        def pairs(first: Sequence, second: Sequence, most: int) -> set:
            return {(choice(first), choice(second)) for _ in range(self.random.randint(0, most))}

        long, deep = self.random.randint(0, 60), self.random.randint(0, 8)
        return Ontology(
            classes=frozenset(classes),
            properties=frozenset(properties),
            subclasses=frozenset({*pairwise(classes[:long]), *pairs(classes, classes, 8)}),
            subproperties=frozenset(pairwise(properties[:deep])),
            inverses=frozenset(pairs(properties[:9], properties, 2)),
            symmetric=frozenset(self.some(properties[:9], 1)),
            transitive=frozenset(self.some(properties[:9], 1)),
            domains=frozenset(pairs(properties[:9], classes, 3)),
            ranges=frozenset(pairs(properties[:9], [*classes, OWL["Thing"]], 3)),
            background=self._triples(self.INDIVIDUALS, self.INDIVIDUALS, self.random.randint(0, 20)),
        )

    def _triples(self, subjects: Sequence, resources: Sequence, count: int) -> frozenset[Triple]:
        properties = [*self.some(self.PROPERTIES, 12), *self.PROPERTIES[:9]]
        objects = [*resources, *self.random.sample(self.literals, 12)]
        choice = self.random.choice
        return frozenset(
            Triple(choice(subjects), TYPE, choice(self.CLASSES))
            if self.chance(0.2)
            else Triple(choice(subjects), choice(properties), choice(objects))
            for _ in range(count)
        )

    def _event(self, id: str) -> Event:
        resources = self.random.sample([*self.BLANKS, *self.INDIVIDUALS], self.random.randint(4, 16))
        return Event(id, self._triples(resources, resources, self.random.choice([1, 5, 30, 60, 100])))

    def subscriptions(self, count: int) -> list[Subscription]:
        graphs = [self.entailment.event_graph(event) for event in self.events]
        found: list[Subscription] = []
        while len(found) < count:
            patterns = [self._pattern(self.random.choice(graphs)) for _ in range(1 if self.chance(0.9) else 3)]
            copies = self.random.choice([1, 1, 1, 2, 20])
            for copy in range(copies):
                alike = patterns if copy == 0 else list(map(self._variant, patterns))
                found.append(Subscription(f"s{len(found)}", tuple(alike), distinct=self.chance(0.2)))
        return found[:count]

    def _pattern(self, graph: EventGraph) -> GraphPattern:
        """Return a pattern that some part of the graph matches, but perhaps for its filters."""
        triples = sorted(graph.triples, key=str)
        statements = [self.random.choice(triples)]
        for _ in range(self.random.choice([0, 0, 1, 1, 2, 3, 4])):
            ends = {term for triple in statements for term in (triple.subject, triple.object)}
            near = [triple for triple in triples if {triple.subject, triple.object} & ends]
            statements.append(self.random.choice(near if self.chance(0.9) else triples))
        place: dict[Term, PatternTerm] = {}
        for term in dict.fromkeys(term for triple in statements for term in (triple.subject, triple.object)):
            place[term] = self._general(term, place)
        arcs = [Arc(place[triple.subject], self._property(triple), place[triple.object]) for triple in statements]
        if self.chance(0.05):
            arcs.append(Arc(self.VARIABLES[0], self.random.choice(self.PROPERTIES[:9]), self.VARIABLES[0]))
        image = {term: image for image, term in place.items()}
        terms = list(dict.fromkeys(term for arc in arcs for term in (arc.subject, arc.object)))
        if self.chance(0.08):
            terms = list(dict.fromkeys([*terms, self.random.choice([self.VARIABLES[7], *self.INDIVIDUALS])]))
        bound = [term for term in terms if isinstance(term, Variable)]
        bound += [arc.property for arc in arcs if isinstance(arc.property, Variable)]
        count = self.random.choice([0, 0, 1, 1, 2, 3]) if bound else 0
        conditions = [self._condition(bound, image) for _ in range(count)]
        return GraphPattern(
            tuple(Vertex(term, self._asked(graph, image.get(term))) for term in terms),
            tuple(dict.fromkeys(arcs)),
            tuple(map(Filter, conditions)),
            home=self.random.choice(terms) if self.chance(0.15) else None,
            injective=self.chance(0.2),
            projection=tuple(dict.fromkeys(self.some(bound, len(bound)))) if self.chance(0.4) else None,
        )

    def _general(self, term: Term, place: dict[Term, PatternTerm]) -> PatternTerm:
        """Return what stands for a term of the graph: itself, a variable of its own or of another, or a blank node."""
        taken = [other for other in place.values() if isinstance(other, Variable)]
        if isinstance(term, NamedNode | Literal) and self.chance(0.3):
            return term
        if taken and self.chance(0.05):
            return self.random.choice(taken)
        return self.VARIABLES[len(taken)] if len(taken) < 7 and self.chance(0.9) else BlankNode(f"n{len(place)}")

    def _property(self, triple: Triple) -> NamedNode | Variable:
        if self.chance(0.93):
            return triple.predicate
        return self.random.choice([Variable("p"), Variable("q"), self.VARIABLES[0]])

    def _asked(self, graph: EventGraph, image: Term | None) -> frozenset[NamedNode]:
        if not self.chance(0.3):
            return frozenset()
        if image is None or self.chance(0.2):
            return frozenset({self.random.choice([*self.CLASSES, *self.TOPS])})
        return frozenset(self.some(sorted(graph.classes(image), key=str), 2))

    def _condition(self, bound: list[Variable], image: dict[PatternTerm, Term], depth: int = 0) -> Expression:
        choice, variable = self.random.choice, self.random.choice(bound)
        near = image.get(variable)
        constant = near if isinstance(near, NamedNode | Literal) and self.chance(0.6) else choice(self.literals)
        kind = self.random.randrange(12 if depth < 2 else 9)
        if kind < 3:
            function = choice([*self.ORDERS, *self.EQUALITIES])
            value = constant if function in self.EQUALITIES else choice([*self.NUMBERS, *self.TIMES])
            return Call(function, (variable, value) if self.chance(0.9) else (value, variable))
        if kind == 3:
            return Call(choice([Function.IN, Function.IN, Function.NOT_IN]), (variable, *self._members(constant)))
        if kind == 4:
            read = choice([variable, Call(Function.STR, (variable,)), Call(Function.UPPER, (variable,))])
            needle = Literal(choice(["", "r", "ed", "RED", "urn:w#i1", "3", "ß", constant.value[:3]]))
            return Call(choice([Function.CONTAINS, Function.STARTS, Function.ENDS]), (read, needle))
        if kind == 5:
            text = Call(Function.STR, (variable,))
            return Call(Function.REGEX, (text, Literal(choice(["^r", "ed$", "[0-9]", "#i[1-5]", "^$"])), Literal("i")))
        if kind == 6:
            return Call(choice(self.KINDS), (variable,))
        if kind == 7:
            return Call(choice(self.ORDERS), (Call(Function.NUMBER, (variable,)), choice(self.NUMBERS)))
        if kind == 8:
            return Call(choice([*self.ORDERS, *self.EQUALITIES, Function.SAME_TERM]), (variable, choice(bound)))
        inner = [self._condition(bound, image, depth + 1) for _ in range(2)]
        return Call(Function.NOT, (inner[0],)) if kind == 9 else Call(choice([Function.AND, Function.OR]), tuple(inner))

    def _members(self, constant: Term) -> list[Term]:
        members = [*self.some([*self.literals, *self.INDIVIDUALS], 5), constant]
        if self.chance(0.1):
            members += [typed(str(number), "integer") for number in range(100)]
        self.random.shuffle(members)
        return members

    def _variant(self, pattern: GraphPattern) -> GraphPattern:
        """Return the pattern with other constants in its filters, and perhaps another individual."""
        known = {vertex.term for vertex in pattern.vertices}
        other = {term: term for term in known}
        for term in known & set(self.INDIVIDUALS):
            found = self.random.choice(self.INDIVIDUALS)
            other[term] = found if found not in known and found not in other.values() else term
        return GraphPattern(
            tuple(Vertex(other[vertex.term], vertex.classes) for vertex in pattern.vertices),
            tuple(Arc(other[arc.subject], arc.property, other[arc.object]) for arc in pattern.arcs),
            tuple(Filter(self._changed(condition.expression)) for condition in pattern.filters),
            home=None if pattern.home is None else other[pattern.home],
            injective=pattern.injective,
            projection=pattern.projection,
        )

    def _changed(self, expression: Expression) -> Expression:
        if isinstance(expression, Call) and expression.function is not Function.REGEX:
            return Call(expression.function, tuple(map(self._changed, expression.arguments)))
        if expression in self.NUMBERS:
            return typed(str(self.random.randint(-2, 9)), "integer")
        return expression


FORMATS: Mapping[str, RdfFormat] = {
    "application/n-triples": RdfFormat.N_TRIPLES,
    "application/n-quads": RdfFormat.N_QUADS,
    "text/turtle": RdfFormat.TURTLE,
}

STEPS_MAX = 4_000
"""What the naive search may take: it is slow, and a crowd is large. What it does not decide is not compared."""


class Quick(Compiled):
    """The compiled algorithm with a budget to match."""

    def __init__(self, entailment: Entailment) -> None:
        super().__init__(entailment, budget=5 * STEPS_MAX)


class Crowd:
    """The same subscriptions in both algorithms, through whatever comes and goes."""

    def __init__(self, world: World, directory: Path) -> None:
        self._random = world.random
        self._world = world
        self._directory = directory
        self.naive: Naive = Naive(world.entailment)
        self.compiled: Compiled = Quick(world.entailment)
        self.standing: dict[str, Subscription] = {}

    def come(self, subscription: Subscription) -> None:
        self.standing[subscription.id] = subscription
        self.naive.subscribe(subscription)
        self.compiled.subscribe(subscription)

    def go(self, id: str) -> Subscription:
        self.naive.unsubscribe(id)
        self.compiled.unsubscribe(id)
        return self.standing.pop(id)

    def stir(self) -> None:
        """Do one of the things that must not change any answer."""
        action = self._random.randrange(30)
        if action == 0:
            self.compiled.match_ids(self._random.choice(self._world.events))
        elif action == 1:
            self.compiled.merge()
        elif action == 2:
            self.reopen()
        elif action == 3:
            self.come(self.go(self._random.choice(list(self.standing))))
        elif action == 4:
            self.go(self._random.choice(list(self.standing)))

    def reopen(self) -> None:
        self.compiled.save(self._directory)
        self.compiled = Quick.open(self._directory, Entailment(self._world.ontology))

    def check(self, event: Event) -> int:
        """Compare all answers to an event; return how many there are."""
        everything, found = answers(self.naive, event), answers(self.compiled, event)
        undecided = self.naive.over_budget | self.compiled.over_budget
        expected = {each: given for each, given in everything.items() if each not in undecided}
        assert {each: given for each, given in found.items() if each not in undecided} == expected
        assert [each for each in found if each not in undecided] == list(expected)
        assert [each for each in self.compiled.match_ids(event) if each not in undecided] == list(expected)
        return sum(given.total() for given in expected.values())

    def check_batch(self) -> None:
        """Compare a table of all events, in various syntaxes, with bindings and without."""
        rows = [("bad", "application/n-triples", b"<a> <b> nonsense")]
        for event in self._world.events:
            name, syntax = self._random.choice(list(FORMATS.items()))
            rows.append((event.id, name, pyoxigraph.serialize(event.graph, format=syntax)))
        columns = [list(column) for column in zip(*rows, strict=True)]
        table = Batch(pa.table(columns, names=["event_id", "content_type", "payload"]))
        results = [algorithm.match_batch(table, bindings=True) for algorithm in (self.naive, self.compiled)]
        told = self.compiled.match_batch(table, bindings=False)
        undecided = {
            (row["event_id"], each)
            for result in results
            for row in result.rejects.to_pylist()
            for each in row["reason"].removeprefix("over budget for the subscriptions ").split(":")[0].split(", ")
        }
        expected, found, ids = (
            [row for row in map(_row, result.matches.to_pylist()) if row[:2] not in undecided]
            for result in (*results, told)
        )
        assert found == expected
        assert [row[:2] for row in ids] == [row[:2] for row in expected]


def _row(row: dict) -> tuple:
    bindings = Counter(tuple(sorted(binding)) for binding in row.get("bindings", ()))
    return row["event_id"], row["subscription_id"], bindings


def crowd_of(seed: int, size: int, directory: Path) -> int:
    """Let a crowd come and go, and compare; return how many answers were compared."""
    world = World(seed)
    crowd = Crowd(world, directory / "index")
    for subscription in world.subscriptions(size):
        crowd.come(subscription)
        crowd.stir()
    count = sum(map(crowd.check, world.events))
    crowd.check_batch()
    for gone in world.some(crowd.standing, len(crowd.standing) // 3):
        crowd.go(gone)
    count += crowd.check(world.events[0])
    crowd.compiled.merge()
    crowd.reopen()
    count += crowd.check(world.events[1])
    assert list(crowd.compiled.standing) == list(crowd.standing)
    assert dict(crowd.compiled.standing) == crowd.standing
    assert crowd.compiled.costs()["subscription_id"].to_pylist() == list(crowd.standing)
    return count


@pytest.fixture
def short_searches(monkeypatch):
    monkeypatch.setattr(naive_algorithm, "Budget", partial(Budget, STEPS_MAX))


@pytest.mark.usefixtures("short_searches")
class TestCrowds:
    """Hundreds of subscriptions of all kinds in one index, which change while it is used."""

    @pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.full), *range(1, 10)])  # 0 takes many steps
    def test_of_unlike_subscriptions(self, seed, tmp_path):
        assert crowd_of(seed, 60, tmp_path) > 0

    @pytest.mark.full
    @pytest.mark.parametrize("seed", range(100, 160))
    def test_of_many_unlike_subscriptions(self, seed, tmp_path):
        crowd_of(seed, 250, tmp_path)

    @pytest.mark.parametrize("seed", range(3))
    def test_of_boxes(self, seed):
        """Thousands of ranges over the same values: searched in blocks, and blocks of blocks."""
        random, entailment = Random(seed), Entailment(Ontology())
        naive, compiled = Naive(entailment), Compiled(entailment)
        subscriptions = [Subscription(f"s{i}", (_boxed(random),)) for i in range(random.choice([300, 1200]))]
        for subscription in subscriptions:
            naive.subscribe(subscription)
            compiled.subscribe(subscription)
        events = [_measured(random, f"e{number}") for number in range(4)]
        for event in events[:3]:
            assert answers(compiled, event) == answers(naive, event)
        for subscription in random.sample(subscriptions, len(subscriptions) // 3):
            naive.unsubscribe(subscription.id)
            compiled.unsubscribe(subscription.id)
        compiled.merge()
        assert answers(compiled, events[3]) == answers(naive, events[3])
        assert compiled.match_ids(events[0]) == naive.match_ids(events[0])


def _value(random: Random) -> Literal:
    number = random.randrange(400)
    forms = typed(str(number // 10), "integer"), typed(f"{number / 10}", "decimal"), typed(f"{number}E-1", "double")
    return random.choice(forms)


def _boxed(random: Random) -> GraphPattern:
    """Return one of few forms: ranges of one or two values, with a text to contain, or a constant."""
    subject = A if random.random() < 0.8 else named(random.randrange(3))
    arcs, conditions = [Arc(subject, P, B), Arc(subject, Q, C)], []
    for variable, functions in product((B, C), (World.ORDERS[:2], World.ORDERS[2:])):
        if random.random() < 0.6:
            conditions += [Call(random.choice(functions), (variable, _value(random)))]
    if random.random() < 0.2:
        conditions.append(Call(Function.IN, (B, *(_value(random) for _ in range(5)))))
    if random.random() < 0.3:
        text = Variable("t")
        arcs.append(Arc(subject, NamedNode("urn:t"), text))
        conditions.append(Call(Function.CONTAINS, (text, Literal(random.choice(["a", "b", "ab"])))))
    if random.random() < 0.2:
        conditions.append(Call(Function.LESS, (B, C)))
    random.shuffle(conditions)
    return GraphPattern(arcs=tuple(arcs), filters=tuple(map(Filter, conditions)))


def _measured(random: Random, id: str) -> Event:
    triples = set()
    for number in range(3):
        triples |= {Triple(named(number), random.choice([P, Q]), _value(random)) for _ in range(3)}
        triples.add(Triple(named(number), P, random.choice([Literal("x"), typed("5", "float"), named(1)])))
        triples.add(Triple(named(number), NamedNode("urn:t"), Literal("".join(random.choices("abc", k=3)))))
    return Event(id, frozenset(triples))


class TestTheDefinition:
    """Where the compiled matcher has to read the definition closely."""

    def check(self, subscription: Subscription, event: Event, ontology: Ontology | None = None) -> None:
        entailment = Entailment(ontology or Ontology())
        naive, compiled = Naive(entailment), Compiled(entailment)
        naive.subscribe(subscription)
        compiled.subscribe(subscription)
        expected = answers(naive, event)
        assert answers(compiled, event) == expected
        assert compiled.match_ids(event) == list(expected)
        rows = [[event.id], ["application/n-triples"], [pyoxigraph.serialize(event.graph, format=RdfFormat.N_TRIPLES)]]
        table = Batch(pa.table(rows, names=["event_id", "content_type", "payload"]))
        first, second = (algorithm.match_batch(table, bindings=True).matches for algorithm in (naive, compiled))
        assert list(map(_row, second.to_pylist())) == list(map(_row, first.to_pylist()))

    @pytest.mark.parametrize(
        ("value", "other"),
        [
            (typed("2024-01-01T00:00:00Z", "dateTime"), typed("2024-01-01T00:00:00", "dateTime")),
            (typed("true", "boolean"), typed("2024-01-01", "date")),
        ],
    )
    def test_lists_of_several_kinds(self, value, other):
        condition = Filter(Call(Function.IN, (B, value, other)))
        pattern = GraphPattern(arcs=(Arc(A, P, B),), filters=(condition,))
        self.check(Subscription("s", (pattern,)), Event("e", frozenset({Triple(named(0), P, value)})))

    def test_property_variables_with_a_class(self):
        query = "PREFIX owl: <http://www.w3.org/2002/07/owl#> SELECT * { ?s ?p ?o . ?p a owl:Thing }"
        self.check(Subscription.parse(query, id="s"), Event("e", frozenset({Triple(named(0), P, named(1))})))

    def test_resources_that_are_said_to_be_a_datatype(self):
        pattern = GraphPattern((Vertex(A, frozenset({XSD["decimal"]})),))
        self.check(Subscription("s", (pattern,)), Event("e", frozenset({Triple(named(0), TYPE, XSD["integer"])})))

    @pytest.mark.parametrize("home", [Variable("h"), named(7)])
    def test_homes_outside_of_the_pattern(self, home):
        loop = frozenset({Triple(named(0), P, named(1)), Triple(named(1), P, named(0))})
        self.check(Subscription("s", (GraphPattern(arcs=(Arc(A, P, B),), home=home),)), Event("e", loop))

    @pytest.mark.parametrize("injective", [False, True])
    @pytest.mark.parametrize("home", [None, A, B, D, named(0), P])
    @pytest.mark.parametrize("classes", [(), (OWL["Thing"],), (NamedNode("urn:C"),)])
    def test_properties_that_are_vertices_and_homes(self, home, classes, injective):
        """A variable may be a property, a vertex and the home; not all that it stands for are vertices of the event."""
        stated = [(named(0), P, named(1)), (P, TYPE, NamedNode("urn:C")), (named(0), Q, P), (named(1), P, Q)]
        vertices, shown = (Vertex(B, frozenset(classes)),), (A, B, C, D)
        pattern = GraphPattern(vertices, (Arc(A, B, C),), home=home, injective=injective, projection=shown)
        for count in range(1, len(stated) + 1):
            graph = frozenset(Triple(*each) for each in stated[:count])
            self.check(Subscription("s", (pattern,)), Event("e", graph))
            self.check(Subscription("s", (pattern,)), Event("e", graph, home=named(0)))

    def test_variables_that_are_projected_twice(self):
        pattern = GraphPattern(arcs=(Arc(A, P, B),), projection=(A, A))
        self.check(Subscription("s", (pattern,)), Event("e", frozenset({Triple(named(0), P, named(1))})))

    @pytest.mark.parametrize(
        "pattern",
        [
            GraphPattern(),
            GraphPattern((Vertex(named(0)),)),
            GraphPattern((Vertex(named(0)), Vertex(named(1)))),
            GraphPattern((Vertex(A), Vertex(BlankNode("x"))), injective=True),
            GraphPattern(arcs=(Arc(A, P, A),)),
            GraphPattern(arcs=(Arc(A, B, C), Arc(C, B, A))),
            GraphPattern(arcs=(Arc(A, B, B),)),
            GraphPattern(arcs=(Arc(A, P, B),), filters=(Filter(Call(Function.IN, (B,))),)),
            GraphPattern(arcs=(Arc(A, P, B),), filters=(Filter(Call(Function.NOT, (Call(Function.BOUND, (C,)),))),)),
            GraphPattern(arcs=(Arc(A, P, B),), filters=(Filter(Literal(True)),)),
        ],
    )
    def test_odd_patterns(self, pattern):
        triples = {Triple(named(i), P, named(j)) for i, j in [(0, 1), (1, 1), (1, 2)]}
        self.check(Subscription("s", (pattern,)), Event("e", frozenset(triples | {Triple(named(2), Q, P)})))


def chain(length: int) -> GraphPattern:
    return GraphPattern(arcs=tuple(Arc(Variable(f"x{i}"), P, Variable(f"x{i + 1}")) for i in range(length)))


def star(arms: int, centre: PatternTerm = A, **options) -> GraphPattern:
    return GraphPattern(arcs=tuple(Arc(centre, P, Variable(f"x{i}")) for i in range(arms)), **options)


INNOCENT = Subscription("innocent", (GraphPattern(arcs=(Arc(A, Q, B),)),))


def event_of(triples: Iterable[Triple]) -> Event:
    """Return an event that has these triples, and one that is for the innocent."""
    return Event("e", frozenset(triples) | {Triple(named("q"), Q, named("r"))})


def chain_event(length: int) -> Event:
    return event_of(Triple(named(i), P, named(i + 1)) for i in range(length))


def star_event(arms: int) -> Event:
    return event_of(Triple(named("c"), P, named(i)) for i in range(arms))


def clique_event(size: int) -> Event:
    return event_of(Triple(named(i), P, named(j)) for i in range(size) for j in range(size))


def never(variable: str) -> tuple[Filter, ...]:
    """Return a filter that no resource satisfies."""
    return (Filter(Call(Function.GREATER, (Variable(variable), typed("5", "integer")))),)


BUDGET = 2_000


def beside_the_innocent(*patterns: GraphPattern, budget: int = BUDGET) -> Compiled:
    compiled = Compiled(Entailment(Ontology()), budget=budget)
    compiled.subscribe(INNOCENT)
    compiled.subscribe(Subscription("hostile", patterns))
    return compiled


ENDLESS: Mapping[str, tuple[GraphPattern, Callable[[], Event]]] = {
    "many arms": (star(200), partial(star_event, 10)),
    "very many arms": (star(1_000), partial(star_event, 10)),
    "many arms that nothing satisfies": (star(200, filters=never("x0")), partial(star_event, 10)),
    "many links through a clique": (chain(200), partial(clique_event, 20)),
    "many links that do not fit": (GraphPattern(arcs=chain(60).arcs, injective=True), partial(clique_event, 60)),
    "arms that do not fit": (star(200, injective=True), partial(star_event, 20)),
    "wildcards": (GraphPattern(arcs=(Arc(A, B, C), *star(1, Variable("d")).arcs)), partial(star_event, 1_000)),
    "wildcards only": (GraphPattern(arcs=(Arc(A, B, C), Arc(D, E, F))), partial(star_event, 1_000)),
    "vertices only": (GraphPattern(tuple(map(Vertex, (A, B, C, D, E, F)))), partial(star_event, 50)),
}


class TestHostileSubscriptions:
    """A subscription that would take for ever is given up, alone, and the others get their answers."""

    @pytest.mark.parametrize("length", [200, 1_000])
    def test_chains_that_match_once(self, length):
        compiled = beside_the_innocent(chain(length), budget=1_000_000)
        event = chain_event(length)
        assert compiled.match_ids(event) == ["innocent", "hostile"]
        assert {match.subscription_id: len(match.bindings) for match in compiled.match(event)} == {
            "innocent": 1,
            "hostile": 1,
        }
        assert compiled.over_budget == frozenset()
        assert compiled.visits < length**2 + 10 * length

    @pytest.mark.parametrize("arms", [200, 1_000])
    def test_existence_is_cheap(self, arms):
        compiled = beside_the_innocent(star(arms))
        assert compiled.match_ids(star_event(10)) == ["innocent", "hostile"]
        assert compiled.over_budget == frozenset()
        assert compiled.visits < 20 * arms

    @pytest.mark.parametrize("case", ENDLESS)
    def test_given_up_alone(self, case):
        pattern, make = ENDLESS[case]
        compiled = beside_the_innocent(pattern)
        event = make()
        assert [match.subscription_id for match in compiled.match(event)] == ["innocent"]
        assert compiled.over_budget == {"hostile"}
        assert compiled.visits <= 2 * BUDGET * (len(pattern.arcs) + len(pattern.vertices)) + len(event.graph)

    @pytest.mark.parametrize("arms", [2, 3, 5])
    def test_ten_thousand_equal_arcs(self, arms):
        compiled = beside_the_innocent(star(arms, named("c")), budget=20_000)
        event = star_event(10_000)
        assert compiled.match_ids(event) == ["innocent", "hostile"]
        assert compiled.over_budget == frozenset()
        assert [match.subscription_id for match in compiled.match(event)] == ["innocent"]
        assert compiled.over_budget == {"hostile"}
        assert compiled.visits <= 2 * 20_000 * (arms + 2)

    @pytest.mark.parametrize("case", [case for case in ENDLESS if "many" in case])
    def test_many_steps_cost_no_more_than_few(self, case):
        pattern, make = ENDLESS[case]
        compiled = beside_the_innocent(pattern)
        list(compiled.match(make()))
        assert compiled.visits <= 20 * BUDGET

    def test_many_hostile_ones_at_once(self):
        compiled = beside_the_innocent(*(star(arms, filters=never("x0")) for arms in range(5, 25)))
        for arms in range(5, 25):
            compiled.subscribe(Subscription(f"other{arms}", (star(arms, injective=True),)))
        assert [match.subscription_id for match in compiled.match(star_event(15))] == ["innocent"]
        assert compiled.over_budget == {"hostile", *(f"other{arms}" for arms in range(5, 25))}

    def test_it_is_found_before_it_is_given_up(self):
        """Who only asks whether there is a match gets an answer when one was found, whatever else is given up."""
        compiled = beside_the_innocent(star(6, filters=never("x0")), chain(1))
        assert compiled.match_ids(star_event(10)) == ["innocent", "hostile"]
        assert compiled.over_budget == frozenset()

    def test_answers_are_all_or_none(self):
        query = "SELECT DISTINCT ?x { { :nq :q :nr } UNION { ?a :p ?x . ?a :p ?y . ?a :p ?z } }"
        subscription = Subscription.parse("PREFIX : <urn:> " + query, id="s")
        compiled = Compiled(Entailment(Ontology()), budget=BUDGET)
        compiled.subscribe(subscription)
        found = answers(compiled, star_event(100))
        assert compiled.over_budget == {"s"} or found["s"].total() == 101

    def test_who_asks_whether_is_answered_by_any_alternative(self):
        query = "PREFIX : <urn:> ASK { { :nq :q :nr } UNION { ?a :p ?x . ?a :p ?y . ?a :p ?z FILTER(?x > 5) } }"
        compiled = Compiled(Entailment(Ontology()), budget=BUDGET)
        compiled.subscribe(Subscription.parse(query, id="s"))
        assert [match.subscription_id for match in compiled.match(star_event(100))] == ["s"]
        assert compiled.over_budget == frozenset()

    def test_the_next_event_is_not_affected(self):
        compiled = beside_the_innocent(star(200, injective=True))
        small = star_event(3)
        before = answers(compiled, small)
        assert compiled.over_budget == frozenset()
        list(compiled.match(star_event(20)))
        assert compiled.over_budget == {"hostile"}
        assert answers(compiled, small) == before
        assert compiled.over_budget == frozenset()

    def test_batches_say_who_was_given_up(self):
        compiled = beside_the_innocent(star(8))
        payload = pyoxigraph.serialize(star_event(10).graph, format=RdfFormat.N_TRIPLES)
        table = pa.table(
            [["e", "f"], ["application/n-triples"] * 2, [payload, b"<urn:a> <urn:q> <urn:b> ."]],
            names=["event_id", "content_type", "payload"],
        )
        result = compiled.match_batch(Batch(table), bindings=True)
        assert [(row["event_id"], row["subscription_id"]) for row in result.matches.to_pylist()] == [
            ("e", "innocent"),
            ("f", "innocent"),
        ]
        assert [row["reason"] for row in result.rejects.to_pylist()] == [
            "over budget for the subscriptions hostile: the others have their answers"
        ]


class TestHostileFilters:
    """What filters ask for is bounded, too."""

    @staticmethod
    def listed(count: int) -> GraphPattern:
        members = (NamedNode(f"urn:member{i}") for i in range(count))
        return GraphPattern(arcs=(Arc(A, P, B),), filters=(Filter(Call(Function.IN, (B, *members))),))

    def test_ten_thousand_members(self):
        compiled = beside_the_innocent(self.listed(10_000))
        event = event_of({Triple(named(0), P, NamedNode("urn:member9999")), Triple(named(0), P, named(1))})
        assert compiled.match_ids(event) == ["innocent", "hostile"]

    @pytest.mark.parametrize("bindings", [False, True])
    def test_what_python_decides_is_bounded(self, bindings, monkeypatch):
        decided = Counter()
        real = compiled_mappings.holds

        def counting(expression, binding, context):
            decided["times"] += 1
            return real(expression, binding, context)

        monkeypatch.setattr(compiled_mappings, "holds", counting)
        lists = tuple(Filter(Call(Function.IN, (Variable(f"x{i}"), *map(named, range(4))))) for i in range(6))
        compiled = beside_the_innocent(star(6, filters=lists), budget=20_000)
        found = answers(compiled, star_event(5)) if bindings else compiled.match_ids(star_event(5))
        assert "innocent" in found
        assert decided["times"] <= 20_000 // 10

    @pytest.mark.parametrize("bindings", [True, False])
    def test_what_python_decides_before_a_residual_is_asked(self, bindings):
        query = "SELECT * { ?s <urn:q> ?o OPTIONAL { ?s <urn:p> ?x } FILTER(STRLEN(STR(?o)) < %d) }"
        payload = pyoxigraph.serialize(star_event(2).graph, format=RdfFormat.N_TRIPLES)
        table = Batch(
            pa.table([["e"], ["application/n-triples"], [payload]], names=["event_id", "content_type", "payload"])
        )
        naive, compiled = Naive(Entailment(Ontology())), Compiled(Entailment(Ontology()))
        for each in (naive, compiled):
            each.subscribe(Subscription.parse(query % 100, id="short"))
            each.subscribe(Subscription.parse(query % 3, id="shorter"))
        first, second = (each.match_batch(table, bindings=bindings).matches.to_pylist() for each in (naive, compiled))
        assert list(map(_row, first)) == list(map(_row, second))
        assert [row["subscription_id"] for row in second] == ["short"]

    @pytest.mark.parametrize("function", [Function.AND, Function.OR])
    def test_deep_conditions(self, function):
        inner: Expression = Call(Function.GREATER, (B, typed("0", "integer")))
        for number in range(300):
            inner = Call(function, (Call(Function.GREATER, (B, typed(str(number), "integer"))), inner))
        compiled = beside_the_innocent(GraphPattern(arcs=(Arc(A, P, B),), filters=(Filter(inner),)))
        event = event_of(Triple(named(0), P, typed(str(number), "integer")) for number in (1, 400))
        expected = {Function.AND: 1, Function.OR: 2}[function]
        assert answers(compiled, event)["hostile"].total() == expected

    def test_a_thousand_alternatives(self):
        patterns = [GraphPattern(arcs=(Arc(A, NamedNode(f"urn:p{i}"), B),)) for i in range(999)]
        compiled = beside_the_innocent(*patterns, chain(1))
        assert compiled.match_ids(star_event(100)) == ["innocent", "hostile"]
        assert compiled.visits < 1_000
        assert answers(compiled, star_event(100))["hostile"].total() == 100


class TestLargeEvents:
    """An event may be large; what it costs is its size and its answers."""

    def test_a_hundred_thousand_triples(self):
        compiled = beside_the_innocent(chain(1), budget=1_000_000)
        event = chain_event(100_000)
        assert compiled.match_ids(event) == ["innocent", "hostile"]
        assert compiled.visits < 2 * 100_000 + 100
        assert compiled.over_budget == frozenset()

    @pytest.mark.full
    def test_as_many_answers_as_there_is_memory_for(self):
        compiled = beside_the_innocent(star(2), budget=1_000_000)
        found = {match.subscription_id: len(match.bindings) for match in compiled.match(star_event(499))}
        assert found == {"innocent": 1, "hostile": 499**2}
        assert [match.subscription_id for match in compiled.match(star_event(999))] == ["innocent"]
        assert compiled.over_budget == {"hostile"}
