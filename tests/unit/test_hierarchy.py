from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from generators import CLASSES
from ontosub.model import Event, Ontology
from ontosub.model.terms import TOP_CLASSES, TYPE, NamedNode, Triple
from ontosub.semantics import Entailment, hierarchy
from ontosub.semantics.hierarchy import Hierarchy

A, B, C, D, *_ = CLASSES
stated = st.lists(st.tuples(st.sampled_from(CLASSES), st.sampled_from(CLASSES)), max_size=8)


def test_several_parents():
    kinds = Hierarchy([(A, B), (A, C), (B, D)])
    assert kinds.above(A) == {A, B, C, D}
    assert kinds.below(D) == {D, B, A}


def test_a_cycle_makes_its_members_equivalent():
    kinds = Hierarchy([(A, B), (B, C), (C, A), (C, D)])
    assert kinds.is_below(A, C)
    assert kinds.is_below(C, A)
    assert kinds.cycles() == [frozenset({A, B, C})]


@given(stated)
def test_closure_is_reflexive_transitive_and_minimal(pairs):
    kinds = Hierarchy(pairs)
    for low in CLASSES:
        assert kinds.is_below(low, low)
        for middle in kinds.above(low):
            assert kinds.above(middle) <= kinds.above(low)
        reached, before = {low}, set()
        while reached != before:
            before = set(reached)
            reached |= {wide for narrow, wide in pairs if narrow in reached}
        assert kinds.above(low) == reached


@given(stated)
def test_above_and_below_mirror_each_other(pairs):
    kinds = Hierarchy(pairs)
    assert all((high in kinds.above(low)) == (low in kinds.below(high)) for low in CLASSES for high in CLASSES)


@given(stated)
def test_cycles_are_what_is_above_and_below_at_once(pairs):
    kinds = Hierarchy(pairs)
    equivalent = {kinds.above(term) & kinds.below(term) for term in CLASSES}
    assert {cycle for cycle in equivalent if len(cycle) > 1} == {*kinds.cycles()}
    assert kinds.cycles() == sorted(kinds.cycles(), key=lambda cycle: min(term.value for term in cycle))


@given(stated, st.lists(st.sampled_from(CLASSES), max_size=12))
def test_forgetting_changes_nothing(pairs, asked):
    kept, forgetful = Hierarchy(pairs), Hierarchy(pairs)
    for term in asked:
        forgetful._above._known.clear()
        assert kept.above(term) == forgetful.above(term)


class TestLongChain:
    """Ten thousand classes, each below the next: 50 million pairs, of which nobody asks for all."""

    CHAIN = tuple(NamedNode(f"urn:c{number}") for number in range(10_000))
    PAIRS = tuple(pairwise(CHAIN))

    def test_has_no_cycle_until_it_is_closed(self):
        assert Hierarchy(self.PAIRS).cycles() == []
        (cycle,) = Hierarchy([*self.PAIRS, (self.CHAIN[-1], self.CHAIN[0])]).cycles()
        assert cycle == {*self.CHAIN}

    def test_is_not_remembered_whole(self):
        kinds = Hierarchy(self.PAIRS)
        for term in self.CHAIN[::40]:
            assert kinds.is_below(term, self.CHAIN[-1])
        assert kinds.remembered <= hierarchy.REMEMBERED_MAX
        assert len(kinds.above(self.CHAIN[0])) == 10_000

    def test_is_not_climbed_again_from_every_class_of_a_vertex(self, monkeypatch):
        asked = []
        above = Hierarchy.above
        monkeypatch.setattr(Hierarchy, "above", lambda self, term: asked.append(term) or above(self, term))
        thing = NamedNode("urn:thing")
        event = Event("e", frozenset({Triple(thing, TYPE, self.CHAIN[0])}))
        graph = Entailment(Ontology(subclasses=frozenset(self.PAIRS))).event_graph(event)
        assert graph.classes(thing) == {*self.CHAIN, *TOP_CLASSES}
        assert len(asked) <= len(TOP_CLASSES)


def test_names_that_the_ontology_does_not_know_leave_nothing_behind():
    kinds = Hierarchy([(A, B)])
    for number in range(1000):
        stranger = NamedNode(f"urn:stranger{number}")
        assert kinds.above(stranger) == kinds.below(stranger) == {stranger}
    assert kinds.remembered == 0
