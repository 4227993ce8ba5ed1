"""The papers' algorithms give the answers of the naive matcher: same subscriptions, same bindings, as often.

Besides the common generators, patterns are cut out of the event graph itself, so that most of them match, often in
several ways, and through cycles.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amounts import at_most
from generators import BLANKS, CLASSES, INDIVIDUALS, LITERALS, PROPERTIES, events, ontologies, ops_patterns, patterns
from ontosub.matching.naive import Naive
from ontosub.matching.published import GToPSS, IBroker, Ops
from ontosub.model import Arc, Event, Filter, GraphPattern, MetaStatement, Ontology, Subscription, Vertex
from ontosub.model.expression import Call, Function
from ontosub.model.terms import HOME, OWL, RDFS, TYPE, XSD, BlankNode, Literal, NamedNode, Triple, Variable
from ontosub.semantics import Entailment


@pytest.fixture(autouse=True, scope="module")
def no_budget() -> Iterator[None]:
    """Let every subscription take what it needs: what is given up has no answers to compare."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ontosub.semantics.budget.Budget.__init__.__defaults__", (sys.maxsize, sys.maxsize))
        yield


# Hierarchies that reach into what no statement says: rdf:type as a sub- or super-property, top and datatype classes.
_ODD_PROPERTIES = [
    frozenset(),
    frozenset({(PROPERTIES[0], TYPE)}),
    frozenset({(TYPE, PROPERTIES[1])}),
    frozenset({(PROPERTIES[0], TYPE), (TYPE, PROPERTIES[1])}),
]
_ODD_CLASSES = [
    frozenset(),
    frozenset({(CLASSES[0], OWL["Thing"]), (OWL["Thing"], CLASSES[1])}),
    frozenset({(CLASSES[0], XSD["integer"]), (XSD["integer"], CLASSES[3])}),
]
_ODD_OBJECTS = [Literal("x", datatype=CLASSES[0]), OWL["Thing"], XSD["integer"], CLASSES[0], PROPERTIES[0]]


@st.composite
def rich_ontologies(draw: st.DrawFn) -> Ontology:
    ontology = draw(ontologies)
    stated = st.builds(MetaStatement, *(st.sampled_from(names) for names in (CLASSES, PROPERTIES, CLASSES)))
    ontology = replace(ontology, meta_statements=draw(st.frozensets(stated, max_size=4)))
    if draw(st.integers(0, 3)):
        return ontology
    return replace(
        ontology,
        subproperties=ontology.subproperties | draw(st.sampled_from(_ODD_PROPERTIES)),
        subclasses=ontology.subclasses | draw(st.sampled_from(_ODD_CLASSES)),
        inverses=ontology.inverses | draw(st.sampled_from([frozenset(), frozenset({(PROPERTIES[2], TYPE)})])),
    )


@st.composite
def rich_events(draw: st.DrawFn) -> Event:
    """Return an event as the generators make it, or one that is dense: few vertices, few properties, many cycles."""
    graph = draw(events).graph
    if draw(st.booleans()):
        ends = [*BLANKS, INDIVIDUALS[0]]
        labels = st.sampled_from(PROPERTIES[: draw(st.integers(1, 3))])
        arcs = st.builds(Triple, st.sampled_from(ends), labels, st.sampled_from([*ends, *LITERALS[:1]]))
        graph = graph | draw(st.frozensets(arcs, min_size=4, max_size=10))
    if draw(st.integers(0, 3)) == 0:
        odd = st.builds(
            Triple,
            st.sampled_from([*BLANKS, *INDIVIDUALS]),
            st.sampled_from([*PROPERTIES, TYPE]),
            st.sampled_from(_ODD_OBJECTS),
        )
        graph = graph | draw(st.frozensets(odd, max_size=3))
    home = None
    if draw(st.integers(0, 3)) == 0:
        home = draw(st.sampled_from(sorted({triple.subject for triple in graph}, key=str)))
    return Event("e", graph, home=home)


def _filters(draw: st.DrawFn, terms: list) -> tuple[Filter, ...]:
    variables = [term for term in terms if isinstance(term, Variable)]
    if not variables or draw(st.integers(0, 2)):
        return ()
    one, other = (draw(st.sampled_from(variables)) for _ in range(2))
    return draw(
        st.sampled_from(
            [
                (Filter(Call(Function.NOT_EQUAL, (one, other))),),
                (Filter(Call(Function.IS_LITERAL, (one,))),),
                (Filter(Call(Function.NOT, (Call(Function.IS_LITERAL, (one,)),))),),
                (Filter(Call(Function.LESS, (one, Literal(5)))),),
                (Filter(Call(Function.EQUAL, (Literal(1), Literal(1)))), Filter(Call(Function.IS_BLANK, (other,)))),
            ]
        )
    )


@st.composite
def cut_out(draw: st.DrawFn, ontology: Ontology, event: Event, anchored: bool) -> GraphPattern:
    """Return a pattern that is a part of the event graph, with some vertices made variables, sometimes spoilt."""
    graph = Entailment(ontology).event_graph(event)
    triples = sorted(graph.triples, key=str)
    if anchored:
        triples = [triple for triple in triples if triple.predicate != TYPE]
    taken, images = [], [event.home] if anchored else []
    walking = draw(st.booleans())
    for _ in range(draw(st.integers(1, 5))):
        near = [t for t in triples if t.subject in images or (not anchored and t.object in images)]
        if walking:  # go on from where the last arc ended: long paths through vertices that are nearer to the home
            ahead = [t for t in near if t.subject == images[-1] and t.object not in images]
            near = ahead or near
        if not near and anchored:
            break
        if choices := [t for t in near or triples if t not in taken]:
            taken.append(draw(st.sampled_from(choices)))
            images += [image for image in (taken[-1].subject, taken[-1].object) if image not in images]
    names = {image: draw(_name_of(image, number)) for number, image in enumerate(images)}
    if anchored:
        names[event.home] = draw(st.sampled_from([HOME, HOME, Variable("h"), event.home]))
        names = {image: BlankNode("other") if name == event.home != image else name for image, name in names.items()}
    free = [image for image, name in names.items() if isinstance(name, Variable) and image != event.home]
    if len(free) > 1 and draw(st.booleans()):  # let two vertices be one: branches that must agree where they meet
        one, other = draw(st.permutations(free))[:2]
        names[one] = names[other]
    arcs = [Arc(names[t.subject], t.predicate, names[t.object]) for t in taken]
    if draw(st.integers(0, 5)) == 0 and arcs:  # spoil it: another property, most likely without an image
        arcs[-1] = replace(arcs[-1], property=draw(st.sampled_from(PROPERTIES)))
    if draw(st.integers(0, 5)) == 0 and arcs and not anchored:
        arcs[0] = replace(arcs[0], property=Variable("p"))
    vertices = {}
    for image, name in names.items():
        known = st.sampled_from(sorted(graph.classes(image), key=str))
        other = st.sampled_from([*CLASSES, OWL["Thing"], RDFS["Literal"]])
        asked = st.one_of(known, known, known, known, other)
        classes = draw(st.frozensets(asked, max_size=2))
        vertices[name] = vertices.get(name, frozenset()) | classes
    return GraphPattern(
        tuple(Vertex(name, classes) for name, classes in vertices.items()),
        tuple(dict.fromkeys(arcs)),
        _filters(draw, list(vertices)),
        home=names[event.home] if anchored else None,
        injective=anchored or draw(st.integers(0, 9)) == 0,
    )


def _name_of(image, number: int):
    variable = st.just(Variable(f"v{number}"))
    constant = st.just(image) if isinstance(image, NamedNode | Literal) else variable
    return st.one_of(variable, variable, variable, constant, st.just(BlankNode(f"v{number}")))


def subscriptions(of_patterns) -> st.SearchStrategy[list[Subscription]]:
    """Several subscriptions, some with alternatives."""
    said = st.tuples(st.lists(of_patterns, min_size=1, max_size=2), st.booleans())
    return st.lists(said, min_size=1, max_size=5).map(
        lambda all_said: [
            Subscription(f"s{number}", tuple(alternatives), distinct=distinct)
            for number, (alternatives, distinct) in enumerate(all_said)
        ]
    )


@st.composite
def cases(draw: st.DrawFn, anchored: bool):
    """Return an ontology, subscriptions, events, and which of the subscriptions to take back."""
    ontology = draw(rich_ontologies())
    happened = draw(st.lists(rich_events(), min_size=1, max_size=3))
    generated = ops_patterns() if anchored else patterns()
    cut = cut_out(ontology, happened[0], anchored) if not anchored or happened[0].home is not None else generated
    cut = cut.filter(lambda pattern: pattern.arcs and pattern.home in {None, *(arc.subject for arc in pattern.arcs)})
    chosen = draw(subscriptions(st.one_of(cut, cut, generated)))
    taken_back = draw(st.frozensets(st.sampled_from([each.id for each in chosen])))
    return ontology, chosen, happened, taken_back


@st.composite
def tangled_patterns(draw: st.DrawFn) -> GraphPattern:
    """Return a pattern of variables with branches that part and meet again, from the home vertex."""
    terms, arcs = [HOME], []
    for _ in range(draw(st.integers(3, 6))):
        arc = Arc(
            draw(st.sampled_from(terms)),
            draw(st.sampled_from(PROPERTIES[:2])),
            draw(st.sampled_from([Variable(f"v{number}") for number in range(4)] + [HOME])),
        )
        arcs.append(arc)
        terms += [arc.object] if arc.object not in terms else []
    return GraphPattern((), tuple(dict.fromkeys(arcs)), home=HOME, injective=True)


@st.composite
def tangled_cases(draw: st.DrawFn):
    """Return a case without classes, in which everything is near everything else."""
    ends = st.sampled_from([HOME, *(BlankNode(f"x{number}") for number in range(5))])
    arcs = st.builds(Triple, ends, st.sampled_from(PROPERTIES[:2]), ends)
    loops = st.builds(Triple, st.just(HOME), st.just(PROPERTIES[0]), ends)
    graph = draw(st.frozensets(arcs, min_size=6, max_size=14)) | {draw(loops)}
    return Ontology(), draw(subscriptions(tangled_patterns())), [Event("e", graph, home=HOME)], frozenset()


def answers(algorithm, event: Event) -> list[tuple[str, Counter]]:
    return [
        (match.subscription_id, Counter(frozenset(binding.items()) for binding in match.bindings))
        for match in algorithm.match(event)
    ]


def check(algorithms: list, case) -> int:
    """Hold algorithms to the naive one: all events, then again after taking subscriptions back. Return the matches."""
    ontology, chosen, happened, taken_back = case
    entailment = Entailment(ontology)
    naive, *others = (make(entailment) for make in (Naive, *algorithms))
    matches = 0
    for algorithm in (naive, *others):
        for subscription in chosen:
            algorithm.subscribe(subscription)
    for given_up in ((), taken_back):
        for name in given_up:
            for algorithm in (naive, *others):
                algorithm.unsubscribe(name)
        for event in happened:
            expected = answers(naive, event)
            matches += len(expected)
            for algorithm in others:
                assert answers(algorithm, event) == expected, type(algorithm).__name__
    return matches


_SETTINGS = settings(
    max_examples=at_most(60, quick=20),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@_SETTINGS
@given(cases(anchored=True))
def test_patterns_from_the_home_vertex(case):
    check([Ops, IBroker, GToPSS], case)


@_SETTINGS
@given(tangled_cases())
def test_branches_that_part_and_meet_again(case):
    check([Ops, IBroker, GToPSS], case)


@_SETTINGS
@given(cases(anchored=False))
def test_homomorphic_patterns(case):
    check([IBroker, GToPSS], case)


def _auction(text: str, **options) -> Subscription:
    return Subscription.parse("PREFIX : <urn:> " + text, **options)


@pytest.mark.parametrize("make", [IBroker, GToPSS])
@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?x { ?x a :Computer . OPTIONAL { ?x :price ?p } }",
        "SELECT ?x ?n { { ?x :price ?n } UNION { ?x :weight ?n } }",
        "SELECT ?x { ?x :part+ ?y . ?y a :Disk }",
        "ASK { ?x :price ?n FILTER(?n > 300) }",
        "ASK { ?x :price ?n FILTER(?n > 400) }",
        "CONSTRUCT { ?y :partOf ?x } { ?x :part ?y }",
    ],
)
def test_what_the_core_leaves_over_is_decided_as_by_the_naive_matcher(make, text):
    ontology = Ontology(subclasses=frozenset({(NamedNode("urn:Notebook"), NamedNode("urn:Computer"))}))
    event = Event.read(
        "@prefix : <urn:> . :n a :Notebook ; :price 350 ; :part :m . :m :part :d . :d a :Disk .", "text/turtle"
    )
    naive, algorithm = Naive(Entailment(ontology)), make(Entailment(ontology))
    for each in (naive, algorithm):
        each.subscribe(_auction(text, id="s"))
    expected, found = list(naive.match(event)), list(algorithm.match(event))
    assert [(m.subscription_id, m.graph) for m in found] == [(m.subscription_id, m.graph) for m in expected]
    assert answers(algorithm, event) == answers(naive, event)
    assert bool(expected) == ("400" not in text)
