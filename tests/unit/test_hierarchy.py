from hypothesis import given
from hypothesis import strategies as st

from generators import CLASSES
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
