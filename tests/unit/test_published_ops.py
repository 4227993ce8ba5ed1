"""OPS as the paper describes it: EMS array, traversal, matching tree, both verifications."""

from __future__ import annotations

import pytest

from ontosub.matching.published.concepts import Concepts, Given
from ontosub.matching.published.ops import Ops, ems
from ontosub.matching.published.ops.ems import ExtendedMetaStatements
from ontosub.matching.published.ops.patterns import Home, StatementPattern, SubscriptionGraph
from ontosub.matching.published.ops.process import MatchingProcess
from ontosub.matching.published.ops.traversal import traverse
from ontosub.matching.published.ops.tree import Circle, Rectangle, backtrack
from ontosub.matching.published.ops.verification import expression_of_root
from ontosub.model import Arc, Event, Filter, GraphPattern, MetaStatement, Ontology, Subscription, Vertex
from ontosub.model.errors import LimitError, UsageError
from ontosub.model.expression import Call, Function
from ontosub.model.terms import HOME, TOP_CLASSES, TYPE, XSD, BlankNode, Literal, NamedNode, Variable
from ontosub.semantics import Entailment


def n(name: str) -> NamedNode:
    return NamedNode("urn:" + name)


def v(name: str) -> Variable:
    return Variable(name)


def ms(subject_class: str, property_: str, object_class: str) -> MetaStatement:
    return MetaStatement(n(subject_class), n(property_), n(object_class))


def event(text: str, **options) -> Event:
    return Event.read(f"@prefix : <urn:> . {text}", "text/turtle", id="e", **options)


def pattern(*arcs: tuple, classes: dict | None = None, filters: tuple = (), **options) -> GraphPattern:
    vertices = tuple(Vertex(term, frozenset(map(n, asked.split()))) for term, asked in (classes or {}).items())
    said = tuple(Arc(subject, n(property_), object_) for subject, property_, object_ in arcs)
    return GraphPattern(vertices, said, filters, **{"home": HOME, "injective": True, **options})


def ops(*patterns: GraphPattern, ontology: Ontology | None = None) -> Ops:
    made = Ops(Entailment(ontology or Ontology()))
    for number, each in enumerate(patterns, start=1):
        made.subscribe(Subscription(f"s{number}", (each,)))
    return made


def matched(algorithm: Ops, happened: Event) -> dict[str, list[dict]]:
    return {match.subscription_id: [dict(b) for b in match.bindings] for match in algorithm.match(happened)}


# An example in the manner of Figures 4 to 6: five meta-statements, one subscription, one event.
CONCEPTS = Ontology(
    meta_statements=frozenset({ms("A", "p1", "B"), ms("A", "p2", "C"), ms("B", "p3", "C"), ms("C", "p4", "A")})
    | {ms("D", "p5", "A")}
)
SUBSCRIPTION = pattern(
    (HOME, "p5", v("1")),
    (v("1"), "p1", v("2")),
    (v("1"), "p2", v("4")),
    (v("2"), "p3", v("3")),
    classes={HOME: "D", v("1"): "A", v("2"): "B", v("3"): "C", v("4"): "C"},
)
EVENT = event(
    """_:H a :D ; :p5 _:a, _:b . _:a a :A ; :p1 _:c ; :p2 _:d . _:c a :B ; :p3 _:e . _:d a :C . _:e a :C .
       _:b a :A ; :p1 _:f . _:f a :B ."""
)


class TestFigures4To6:
    def test_in_the_initial_state_only_patterns_from_the_home_vertex_wait(self):
        items = ops(SUBSCRIPTION, ontology=CONCEPTS)._ems.items
        assert [item.meta_statement for item in items] == [
            ms("A", "p1", "B"),
            ms("A", "p2", "C"),
            ms("B", "p3", "C"),
            ms("C", "p4", "A"),
            ms("D", "p5", "A"),
        ]
        assert [len(item.waiting) for item in items] == [0, 0, 0, 0, 1]
        (waiting,) = items[4].waiting
        assert (waiting.subject, waiting.object) == (Home.HOME, None)

    def test_the_traversal_is_breadth_first_and_takes_each_arc_once(self):
        graph = Entailment(CONCEPTS).event_graph(EVENT)
        said = [(s.subject, s.meta_statement.property.value[4:]) for s in traverse(graph, Given(graph))]
        assert said[:2] == [(Home.HOME, "p5"), (Home.HOME, "p5")]
        assert sorted(label for _, label in said[2:5]) == ["p1", "p1", "p2"]
        assert said[5:] == [(BlankNode("c"), "p3")]

    def test_the_matching_tree_has_circles_and_rectangles_and_proves_one_mapping(self):
        algorithm = ops(SUBSCRIPTION, ontology=CONCEPTS)
        process = MatchingProcess(algorithm._ems, Entailment(CONCEPTS).event_graph(EVENT), algorithm.stats)
        process.run()
        (tree,) = process._trees.values()
        (first,) = tree.root.children
        under_a, under_b = sorted(first.children, key=lambda circle: str(circle.pairs[v("1")]))
        assert [under_a.pairs[v("1")], under_b.pairs[v("1")]] == [BlankNode("a"), BlankNode("b")]
        derived = {rectangle.pattern.meta_statement for rectangle in under_a.children}
        assert derived == {ms("A", "p1", "B"), ms("A", "p2", "C")}
        assert all(rectangle.pattern.subject == BlankNode("a") for rectangle in under_a.children)
        assert (len(tree.nodes), under_a.checked, under_b.checked, under_b.unchecked_children) == (14, True, False, 2)
        assert tree.root.checked
        expected = {HOME: Home.HOME} | {v(name): BlankNode(image) for name, image in zip("1234", "aced", strict=True)}
        assert expression_of_root(tree) == [expected]

    def test_the_counters_tell(self):
        algorithm = ops(SUBSCRIPTION, ontology=CONCEPTS)
        assert list(matched(algorithm, EVENT)) == ["s1"]
        stats = algorithm.stats
        assert (stats.typed_statements, stats.pattern_matches) == (6, 6)
        assert (stats.trees, stats.nodes_per_tree, stats.bebv_runs) == (1, 14, 1)


class TestEmsArray:
    AUCTION = Ontology(
        subclasses=frozenset({(n("Desktop"), n("Computer")), (n("Computer"), n("Product"))}),
        subproperties=frozenset({(n("cell"), n("phone"))}),
        meta_statements=frozenset({ms("Product", "maker", "Company"), ms("Customer", "phone", "Number")}),
    )

    def array(self) -> ExtendedMetaStatements:
        return ExtendedMetaStatements(self.AUCTION, Concepts(Entailment(self.AUCTION)))

    def test_it_holds_all_valid_meta_statements_in_order(self):
        assert [item.meta_statement for item in self.array().items] == [
            ms("Computer", "maker", "Company"),
            ms("Customer", "cell", "Number"),
            ms("Customer", "phone", "Number"),
            ms("Desktop", "maker", "Company"),
            ms("Product", "maker", "Company"),
        ]

    def test_ancestor_lists_follow_both_hierarchies(self):
        array = self.array()

        def ancestors(of: MetaStatement) -> set[MetaStatement]:
            return {item.meta_statement for item in array.item(of).ancestors}

        assert ancestors(ms("Desktop", "maker", "Company")) == {
            ms("Computer", "maker", "Company"),
            ms("Product", "maker", "Company"),
        }
        assert ancestors(ms("Customer", "cell", "Number")) == {ms("Customer", "phone", "Number")}
        assert ancestors(ms("Product", "maker", "Company")) == set()

    def test_what_is_taken_in_is_linked_and_leaves_no_trace(self):
        array = self.array()
        before = [(item.meta_statement, len(item.ancestors)) for item in array.items]
        wider, narrower = ms("Computer", "maker", "Anything"), ms("Laptop", "maker", "Company")
        for _ in range(2):
            taken = array.take(MetaStatement(wider.subject_class, wider.property, XSD["string"]))
            array.take(narrower)
        top = array.take(MetaStatement(NamedNode("http://www.w3.org/2002/07/owl#Thing"), n("maker"), n("Company")))
        assert top in array.item(narrower).ancestors
        assert top in array.item(ms("Desktop", "maker", "Company")).ancestors
        array.give_back(top.meta_statement)
        for _ in range(2):
            array.give_back(taken.meta_statement)
            array.give_back(narrower)
        assert [(item.meta_statement, len(item.ancestors)) for item in array.items] == before
        assert array.find(narrower) is None

    def test_one_that_would_be_too_large_is_refused(self, monkeypatch):
        monkeypatch.setattr(ems, "ITEMS_MAX", 4)
        with pytest.raises(LimitError, match="more than 4 meta-statements"):
            self.array()

    def test_events_and_subscriptions_may_go_beyond_the_concept_model(self):
        algorithm = ops(pattern((HOME, "likes", v("x")), classes={v("x"): "Cat"}), ontology=self.AUCTION)
        size = len(algorithm._ems.items)
        assert matched(algorithm, event("_:H :likes _:c . _:c a :Cat ; :chases :mouse .")) == {
            "s1": [{"x": BlankNode("c")}]
        }
        assert len(algorithm._ems.items) == size
        algorithm.unsubscribe("s1")
        assert len(algorithm._ems.items) == size - 1


class TestMatchingProcess:
    def test_equal_statement_patterns_are_matched_once(self):
        one = pattern((HOME, "p", v("x")), (v("x"), "q", v("y")))
        other = pattern((HOME, "p", v("u")), (v("u"), "q", v("w")), (v("w"), "r", v("z")))
        algorithm = ops(one, other)
        happened = event("_:H :p _:a . _:a :q _:b . _:b :r _:c .")
        assert matched(algorithm, happened) == {
            "s1": [{"x": BlankNode("a"), "y": BlankNode("b")}],
            "s2": [{"u": BlankNode("a"), "w": BlankNode("b"), "z": BlankNode("c")}],
        }
        stats = algorithm.stats
        assert (stats.pattern_matches, stats.registrations, stats.trees, stats.tree_nodes) == (3, 2, 2, 5 + 7)

    def test_no_tree_is_created_for_what_nothing_matched(self):
        algorithm = ops(pattern((HOME, "p", v("x"))), pattern((HOME, "q", v("x"))))
        assert list(matched(algorithm, event("_:H :p _:a ."))) == ["s1"]
        assert algorithm.stats.trees == 1

    def test_an_arc_back_to_a_vertex_whose_arcs_were_traversed_before(self):
        # _:a comes before _:b, so its arc :r is traversed before _:b :q _:a makes it wanted.
        algorithm = ops(pattern((HOME, "p", v("b")), (v("b"), "q", v("a")), (v("a"), "r", v("c"))))
        happened = event("_:H :o _:a ; :p _:b . _:b :q _:a . _:a :r _:c .")
        assert matched(algorithm, happened) == {"s1": [{"a": BlankNode("a"), "b": BlankNode("b"), "c": BlankNode("c")}]}

    def test_a_cycle_derives_no_pattern_twice(self):
        algorithm = ops(pattern((HOME, "p", v("x")), (v("x"), "q", v("y")), (v("y"), "r", v("x")), (v("x"), "s", HOME)))
        assert matched(algorithm, event("_:H :p _:a . _:a :q _:b ; :s _:H . _:b :r _:a ."))
        assert algorithm.stats.tree_nodes == 9

    def test_nothing_of_an_event_stays(self):
        algorithm = ops(SUBSCRIPTION, ontology=CONCEPTS)
        expected = matched(algorithm, EVENT)
        assert not matched(algorithm, event("_:H a :D ; :p5 _:a . _:a a :A ."))
        assert matched(algorithm, EVENT) == expected
        waiting = [each for item in algorithm._ems.items for each in item.waiting.values()]
        assert [(each.observers, each.matched) for each in waiting] == [([], {})]

    def test_the_home_vertex_may_have_any_name(self):
        wanted = pattern((v("h"), "p", v("x")), home=v("h"))
        happened = event(":it :p _:H . _:H :p :it .", home=n("it"))
        assert matched(ops(wanted), happened) == {"s1": [{"h": n("it"), "x": BlankNode("H")}]}
        assert matched(ops(pattern((n("it"), "p", v("x")), home=n("it"))), happened)
        assert not matched(ops(pattern((n("that"), "p", v("x")), home=n("that"))), happened)

    def test_without_a_home_vertex_nothing_matches(self):
        assert not matched(ops(pattern((HOME, "p", v("x")))), event(":a :p :b . :b :p :a ."))

    def test_several_classes_of_one_vertex_must_all_hold(self):
        algorithm = ops(pattern((HOME, "p", v("x")), classes={v("x"): "A B"}))
        assert matched(algorithm, event("_:H :p _:a . _:a a :A, :B ."))
        assert not matched(algorithm, event("_:H :p _:a . _:a a :A ."))
        assert not matched(algorithm, event("_:H :p _:a . _:a a :B ."))

    def test_a_resource_may_be_typed_with_a_datatype_and_a_literal_with_a_class(self):
        anything = GraphPattern((Vertex(HOME, TOP_CLASSES),), (Arc(HOME, n("p"), v("x")),), home=HOME, injective=True)
        thing = GraphPattern((Vertex(v("x"), TOP_CLASSES),), (Arc(HOME, n("p"), v("x")),), home=HOME, injective=True)
        algorithm = ops(anything, thing)
        said = "_:H a <http://www.w3.org/2001/XMLSchema#integer> ; :p 'x'^^:Kelvin ."
        assert list(matched(algorithm, event(said))) == ["s1"]

    def test_a_filter_on_an_object_is_part_of_its_statement_pattern(self):
        cheap = Filter(Call(Function.LESS, (v("x"), Literal(400))))
        algorithm = ops(pattern((HOME, "price", v("x")), filters=(cheap,)))
        assert matched(algorithm, event("_:H :price 350, 450 .")) == {"s1": [{"x": Literal(350)}]}
        assert algorithm.stats.pattern_matches == 1

    def test_a_filter_on_several_vertices_is_confirmed_at_the_end(self):
        lower = Filter(Call(Function.LESS, (v("x"), v("y"))))
        algorithm = ops(pattern((HOME, "price", v("x")), (HOME, "limit", v("y")), filters=(lower,)))
        assert matched(algorithm, event("_:H :price 350, 450 ; :limit 400 .")) == {
            "s1": [{"x": Literal(350), "y": Literal(400)}]
        }


class TestVerification:
    def test_backtracking_as_in_figure_7(self):
        d = Circle({}, frozenset(), unchecked_children=2)
        e, f = Rectangle(None, None, None, d), Rectangle(None, None, None, d)
        g = Circle({}, frozenset(), e, unchecked_children=1)
        h = Rectangle(None, None, None, g)
        i = Circle({}, frozenset(), h)
        backtrack(i)
        assert [node.checked for node in (i, h, g, e)] == [True] * 4
        assert (d.checked, d.unchecked_children, f.checked) == (False, 1, False)

    def test_a_second_solution_does_not_count_twice(self):
        parent = Circle({}, frozenset(), unchecked_children=2)
        rectangle = Rectangle(None, None, None, parent)
        for _ in range(2):
            backtrack(Circle({}, frozenset(), rectangle))
        assert parent.unchecked_children == 1

    @pytest.mark.parametrize(
        "text",
        [
            "_:H :p _:a ; :q _:b . _:a :r _:c . _:b :r _:d .",  # ?z would be two vertices (rule 4)
            "_:H :p _:a ; :q _:a . _:a :r _:c .",  # ?x and ?y would be one vertex (rule 5)
        ],
    )
    def test_what_sbpv_lets_pass_bebv_refuses(self, text):
        diamond = pattern((HOME, "p", v("x")), (HOME, "q", v("y")), (v("x"), "r", v("z")), (v("y"), "r", v("z")))
        algorithm = ops(diamond)
        assert not matched(algorithm, event(text))
        assert (algorithm.stats.trees, algorithm.stats.bebv_runs) == (1, 1)

    def test_bebv_gives_all_mappings(self):
        algorithm = ops(pattern((HOME, "p", v("x")), (HOME, "p", v("y"))))
        found = matched(algorithm, event("_:H :p :a, :b, :c ."))["s1"]
        assert len(found) == 6
        assert all(binding["x"] != binding["y"] for binding in found)


@pytest.mark.parametrize(
    ("refused", "because"),
    [
        (pattern((HOME, "p", v("x")), home=None), "home vertex, and this pattern has none"),
        (pattern((HOME, "p", v("x")), injective=False), "same image"),
        (GraphPattern((), (Arc(HOME, v("p"), v("x")),), home=HOME, injective=True), "variable property \\?p"),
        (GraphPattern((), (Arc(HOME, TYPE, v("x")),), home=HOME, injective=True), "rdf:type"),
        (pattern(classes={HOME: "A"}), "starts at the home vertex"),
        (pattern((HOME, "p", v("x")), (v("y"), "p", v("x"))), "cannot reach the vertex \\?y"),
    ],
)
def test_patterns_that_ops_cannot_take_are_refused(refused, because):
    algorithm = ops(pattern((HOME, "p", v("x"))))
    with pytest.raises(UsageError, match=because):
        algorithm.subscribe(Subscription("bad", (pattern((HOME, "p", v("x"))), refused)))
    assert list(matched(algorithm, event("_:H :p :a ."))) == ["s1"]


def test_statement_patterns_of_different_subscriptions_are_equal_when_their_contents_are():
    cheap = [Filter(Call(Function.LESS, (v(name), Literal(400)))) for name in "xy"]
    (_, one), (_, other) = (
        SubscriptionGraph(pattern((HOME, "price", v(name)), filters=(filter_,))).patterns_from(HOME, {HOME: Home.HOME})[
            0
        ]
        for name, filter_ in zip("xy", cheap, strict=True)
    )
    assert one == other
    assert isinstance(one, StatementPattern)
