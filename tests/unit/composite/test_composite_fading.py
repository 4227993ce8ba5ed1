"""What is outlived is forgotten: seldom enough to cost little, often enough to hold little, and wholly in a silence."""

from datetime import timedelta

import pytest

from ontosub.composite.fading import Fading
from ontosub.composite.instance import Instance
from ontosub.composite.moments import FOREVER
from ontosub.composite.operators import behaviour_of
from ontosub.model.composite import Conjunction, Iteration, Primitive, Sequence
from ontosub.model.relation import Relation

WINDOW = 50
MICROSECONDS = timedelta(microseconds=WINDOW)
A, B = Primitive("a", (("x", "x"),)), Primitive("b", (("x", "x"),))
PATTERNS = [
    Sequence(Relation.BEFORE, (A, B), MICROSECONDS),
    Conjunction((A, B), MICROSECONDS),
    Iteration(A, 3, MICROSECONDS, ("x",)),
]


def instance(moment: int) -> Instance:
    value = f'"{moment}"'
    return Instance(moment, moment, ({"x": value},), f"e{moment}", label=("a", f"e{moment}"))


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: type(pattern).__name__)
def test_machines_hold_a_small_multiple_of_what_the_window_has(pattern):
    machine = behaviour_of(pattern, None, FOREVER).machine
    most = 0
    for moment in range(5_000):
        assert machine.feed(f'"{moment}"', 0, instance(moment)) == []
        most = max(most, sum(machine.live().values()))
    assert WINDOW <= most <= 4 * WINDOW + 32
    machine.forget(4_999)
    assert sum(machine.live().values()) == WINDOW


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: type(pattern).__name__)
def test_a_silence_leaves_nothing_behind(pattern):
    machine = behaviour_of(pattern, None, FOREVER).machine
    for moment in range(100):
        machine.feed(f'"{moment}"', 0, instance(moment))
    assert machine.due < FOREVER
    assert machine.advance(machine.due) == []
    assert (machine.live(), machine.due) == ({}, FOREVER)


def test_looking_costs_a_few_steps_for_each_that_is_held():
    """Each is needed for so long, and looking goes through all that are held."""
    fading, held, steps = Fading(), [], 0
    for moment in range(20_000):
        held.append(moment + WINDOW)
        if fading.hold(moment + WINDOW):
            steps += len(held)
            held = [last for last in held if last > moment]
            fading.looked(len(held), max(held))
    assert steps < 3 * 20_000
