"""Workloads: the same from the same seed, of the promised size and shape."""

from collections import Counter

import pytest

from ontosub.bench.workload import Workload
from ontosub.bench.workloads import WORKLOADS, lubm, mixed, ops, residual, templates
from ontosub.bench.workloads.lubm.ontology import UB
from ontosub.languages.ops.printer import to_text
from ontosub.matching.definition import mappings
from ontosub.model import Subscription
from ontosub.model.pattern import reachable
from ontosub.model.terms import HOME, TYPE, BlankNode, Literal, NamedNode, Variable
from ontosub.semantics import Entailment


def small(name: str, seed: int = 1) -> Workload:
    if name == "lubm":
        return lubm.generate(60, 2, seed, triples=500)
    if name == "lubm-residual":
        return lubm.generate_residual(60, 3, seed, triples=500)
    return WORKLOADS[name].generate(60, 3, seed)


def matches_per_event(workload: Workload) -> float:
    entailment = Entailment(workload.ontology)
    graphs = [entailment.event_graph(each.event) for each in workload.events]
    found = sum(
        next(mappings(subscription.patterns[0], graph), None) is not None
        for graph in graphs
        for subscription in workload.subscriptions
    )
    return found / len(graphs)


@pytest.mark.parametrize("name", WORKLOADS)
class TestEvery:
    def test_is_the_same_from_the_same_seed(self, name: str):
        assert small(name) == small(name)

    def test_differs_from_seed_to_seed(self, name: str):
        one, other = small(name, seed=1), small(name, seed=2)
        assert one.subscriptions != other.subscriptions
        assert one.events != other.events

    def test_has_as_many_subscriptions_and_events_as_asked_for(self, name: str):
        workload = small(name)
        assert workload.size == len({each.id for each in workload.subscriptions}) == 60
        assert len({each.event.id for each in workload.events}) == (2 if name == "lubm" else 3)

    def test_payloads_read_as_the_events(self, name: str):
        for published in small(name).events:
            assert published.read() == published.event

    def test_subscriptions_use_the_ontology_s_words(self, name: str):
        workload = small(name)
        patterns = [pattern for each in workload.subscriptions for pattern in each.patterns]
        assert {class_ for p in patterns for v in p.vertices for class_ in v.classes} <= workload.ontology.classes
        properties = {arc.property for p in patterns for arc in p.arcs if isinstance(arc.property, NamedNode)}
        assert properties - {TYPE} <= workload.ontology.properties


class TestOps:
    def test_events_have_50_typed_blank_vertices_and_55_arcs(self):
        for published in small("ops").events:
            graph = published.event.graph
            arcs = [triple for triple in graph if triple.predicate != TYPE]
            typed = Counter(triple.subject for triple in graph if triple.predicate == TYPE)
            assert len(arcs) == 55
            assert set(typed.values()) == {1}
            assert len(typed) == 50
            assert all(isinstance(vertex, BlankNode) for vertex in typed)
            assert published.event.home == HOME

    def test_each_of_ten_classes_has_two_of_ten_properties(self):
        ontology = small("ops").ontology
        assert len(ontology.classes) == len(ontology.properties) == 10
        assert set(Counter(each.subject_class for each in ontology.meta_statements).values()) == {2}

    def test_subscriptions_have_ten_vertices_and_nine_to_eleven_arcs(self):
        workload = ops.generate(300, 1, 1)
        arcs = Counter()
        for subscription in workload.subscriptions:
            (pattern,) = subscription.patterns
            assert pattern.injective
            assert pattern.home == HOME
            assert len(pattern.vertices) == 10
            assert reachable(HOME, pattern.arcs) == {vertex.term for vertex in pattern.vertices}
            arcs[len(pattern.arcs)] += 1
        assert set(arcs) == {9, 10, 11}

    @pytest.mark.parametrize("seed", [1, 2, 3])
    def test_about_three_in_a_hundred_match(self, seed: int):
        workload = ops.generate(300, 10, seed)
        assert 0.01 < matches_per_event(workload) / 300 < 0.07

    def test_fewer_classes_mean_more_matches(self):
        few, many = (ops.generate(100, 5, 1, classes=classes) for classes in (3, 20))
        assert matches_per_event(few) > 2 * matches_per_event(many)

    def test_subscriptions_can_be_written_as_statement_patterns(self):
        for subscription in small("ops").subscriptions[:5]:
            read = Subscription.parse(to_text(subscription), "ops", id=subscription.id)
            (mine,), (theirs,) = subscription.patterns, read.patterns
            assert set(mine.arcs) == set(theirs.arcs)
            assert set(mine.vertices) == set(theirs.vertices)
            assert theirs.injective
            assert theirs.home == HOME


class TestTemplates:
    def test_there_are_thirty_forms(self):
        assert len(set(templates.forms())) == len(templates.forms()) == 30

    def test_subscriptions_of_a_form_differ_in_constants_only(self):
        shapes = {
            (
                tuple((arc.subject, arc.property, isinstance(arc.object, Variable)) for arc in pattern.arcs),
                tuple(condition.expression.function for condition in pattern.filters),
            )
            for subscription in templates.generate(300, 1, 1).subscriptions
            for pattern in subscription.patterns
        }
        assert len(shapes) == 30

    def test_constants_are_iris_strings_and_numbers(self):
        patterns = [each.patterns[0] for each in small("templates").subscriptions]
        asked = {type(vertex.term) for pattern in patterns for vertex in pattern.vertices}
        assert asked == {Variable, NamedNode, Literal}
        assert {f.expression.function.value for pattern in patterns for f in pattern.filters} == {"<", ">"}

    def test_matches_per_event_do_not_grow_with_the_size(self):
        few, many = (matches_per_event(templates.generate(size, 10, 1)) for size in (300, 3000))
        for found in (few, many):
            assert templates.MATCHES_PER_EVENT / 2 < found < templates.MATCHES_PER_EVENT * 2


class TestMixed:
    def test_classes_are_six_deep_and_properties_three(self):
        ontology = mixed.ontology()
        entailment = Entailment(ontology)
        assert max(len(entailment.classes.above(class_)) for class_ in ontology.classes) == 6
        assert max(len(entailment.properties.above(property_)) for property_ in ontology.properties) == 3

    def test_a_tenth_are_texts_with_optional_or_union(self):
        texts = [each.text for each in mixed.generate(400, 1, 1).subscriptions if each.text is not None]
        assert len(texts) == 40
        assert all(("OPTIONAL" in text) != ("UNION" in text) for text in texts)
        assert 5 < sum("UNION" in text for text in texts) < 35

    def test_shapes_are_many_and_every_ingredient_is_there(self):
        patterns = [each.patterns[0] for each in mixed.generate(400, 1, 1).subscriptions]
        shapes = {(tuple(v.classes for v in p.vertices), tuple(arc.property for arc in p.arcs)) for p in patterns}
        assert len(shapes) > 390
        assert any(pattern.filters for pattern in patterns)
        for kind in (NamedNode, Literal):
            assert any(isinstance(vertex.term, kind) for pattern in patterns for vertex in pattern.vertices)

    def test_some_match_and_most_do_not(self):
        workload = mixed.generate(1000, 10, 1)
        assert 0 < matches_per_event(workload) < 20


class TestResidual:
    def test_every_subscription_says_more_than_its_core(self):
        for workload in (small("residual"), small("lubm-residual")):
            assert all(each.residual is not None for each in workload.subscriptions)

    def test_any_hundred_in_a_row_have_all_kinds_in_their_shares(self):
        assert len(residual.KINDS) == 100
        texts = [each.text for each in residual.generate(200, 1, 1).subscriptions][50:150]
        words = {
            "optional": "OPTIONAL",
            "aggregate": "GROUP BY",
            "values": "VALUES",
            "order": "ORDER BY",
        }
        for kind, word in words.items():
            assert sum(word in text for text in texts) == residual.SHARES[kind], kind
        assert sum("EXISTS" in text or "MINUS" in text for text in texts) == residual.SHARES["negation"]

    def test_one_or_two_in_a_hundred_pass_their_core(self):
        workload = residual.generate(2000, 5, 1)
        assert 0.01 < matches_per_event(workload) / 2000 < 0.025

    def test_lubm_s_additions_are_all_there(self):
        texts = [each.text for each in lubm.generate_residual(200, 1, 1, triples=10).subscriptions]
        for word in ("OPTIONAL", "HAVING", "MAX", "NOT EXISTS", "MINUS", "+ "):
            assert any(word in text for text in texts), word


@pytest.fixture(scope="module")
def counts() -> Counter:
    """How many of each kind the document's complete departments have."""
    graph = lubm.generate(1, 1, 1, triples=40_000).events[0].event.graph
    last = max(
        int(t.subject.value.split("Department")[1].split(".")[0]) for t in graph if "Department" in t.subject.value
    )
    return Counter(
        triple.object.value.removeprefix(UB)
        for triple in graph
        if triple.predicate == TYPE and f"Department{last}." not in triple.subject.value
    )


class TestLubm:
    def test_a_document_has_exactly_as_many_triples_as_asked_for(self):
        for triples in (1, 500, 2000):
            assert len(lubm.generate(1, 1, 1, triples=triples).events[0].event.graph) == triples

    def test_proportions_are_those_of_lubm(self, counts: Counter):
        departments = counts["Department"]
        assert departments >= 4
        bounds = {
            "FullProfessor": (7, 10),
            "AssociateProfessor": (10, 14),
            "AssistantProfessor": (8, 11),
            "Lecturer": (5, 7),
            "ResearchGroup": (10, 20),
        }
        for kind, (least, most) in bounds.items():
            assert least <= counts[kind] / departments <= most, kind
        faculty = sum(counts[kind] for kind in list(bounds)[:4])
        assert 8 <= counts["UndergraduateStudent"] / faculty <= 14
        assert 3 <= counts["GraduateStudent"] / faculty <= 4
        for kind in ("Course", "GraduateCourse"):
            assert 1 <= counts[kind] / faculty <= 2
        assert 0.1 < counts["TeachingAssistant"] / counts["GraduateStudent"] < 0.35

    def test_a_department_is_headed_by_one_full_professor(self):
        graph = lubm.generate(1, 1, 1, triples=8000).events[0].event.graph
        heads = [triple for triple in graph if triple.predicate == UB["headOf"]]
        assert heads
        assert len({triple.object for triple in heads}) == len(heads)
        assert all("FullProfessor" in triple.subject.value for triple in heads)

    def test_profiles_have_up_to_six_triples_some_with_values_some_with_types_only(self):
        patterns = [each.patterns[0] for each in lubm.generate(500, 1, 1, triples=10).subscriptions]
        sizes = [len(p.arcs) + sum(len(v.classes) for v in p.vertices) for p in patterns]
        assert max(sizes) == 6
        assert min(sizes) == 1
        valued = sum(any(isinstance(vertex.term, Literal) for vertex in p.vertices) for p in patterns)
        assert 0.05 < valued / 500 < 0.16
        assert 0.05 < sum(not pattern.arcs for pattern in patterns) / 500 < 0.25

    def test_the_hierarchies_are_needed(self):
        workload = lubm.generate(100, 1, 1, triples=8000)
        plain = Workload("plain", 1, type(workload.ontology)(), workload.subscriptions, workload.events)
        assert matches_per_event(workload) > matches_per_event(plain) > 0
