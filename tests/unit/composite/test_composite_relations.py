"""The thirteen relations of Allen."""

from itertools import product

import pytest

from ontosub.model.relation import Relation, relation_of

INTERVALS = [(start, end) for start in range(6) for end in range(start, 6)]
DEFINED = {
    Relation.EQUALS: lambda s, e, s2, e2: s == s2 and e == e2,
    Relation.STARTS: lambda s, e, s2, e2: s == s2 and e < e2,
    Relation.STARTED_BY: lambda s, e, s2, e2: s == s2 and e > e2,
    Relation.FINISHES: lambda s, e, s2, e2: s > s2 and e == e2,
    Relation.FINISHED_BY: lambda s, e, s2, e2: s < s2 and e == e2,
    Relation.DURING: lambda s, e, s2, e2: s > s2 and e < e2,
    Relation.INCLUDES: lambda s, e, s2, e2: s < s2 and e > e2,
    Relation.BEFORE: lambda s, e, s2, e2: s < s2 and e < e2 and e < s2,
    Relation.MEETS: lambda s, e, s2, e2: s < s2 and e < e2 and e == s2,
    Relation.OVERLAPS: lambda s, e, s2, e2: s < s2 and e < e2 and e > s2,
    Relation.AFTER: lambda s, e, s2, e2: s > s2 and e > e2 and s > e2,
    Relation.MET_BY: lambda s, e, s2, e2: s > s2 and e > e2 and s == e2,
    Relation.OVERLAPPED_BY: lambda s, e, s2, e2: s > s2 and e > e2 and s < e2,
}


def test_exactly_one_relation_holds_of_any_two_intervals_and_it_is_the_one_found():
    assert DEFINED.keys() == set(Relation)
    for left, right in product(INTERVALS, repeat=2):
        assert [relation for relation, holds in DEFINED.items() if holds(*left, *right)] == [relation_of(*left, *right)]


def test_each_relation_occurs():
    assert {relation_of(*left, *right) for left, right in product(INTERVALS, repeat=2)} == set(Relation)


def test_the_inverse_is_the_relation_the_other_way_round():
    for left, right in product(INTERVALS, repeat=2):
        assert relation_of(*left, *right).inverse is relation_of(*right, *left)


@pytest.mark.parametrize("relation", Relation)
def test_an_inverse_is_inverted_back(relation):
    assert relation.inverse.inverse is relation
