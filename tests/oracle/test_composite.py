"""The detector finds what docs/COMPOSITE.md defines, in whatever order matches arrive and time passes."""

import json
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from composite_generators import Drawing, facts, patterns, with_policy
from composite_generators import history as generated
from ontosub.composite import Detector
from ontosub.composite.moments import moment_of
from ontosub.model.composite import (
    Composite,
    Concurrency,
    Conjunction,
    Disjunction,
    Exclusion,
    Iteration,
    Negation,
    Policy,
    Restriction,
    Sequence,
)
from ontosub.model.scope import dividing
from oracle.composite_definition import Fact, History, delay

END = 10_000
KINDS = (Conjunction, Concurrency, Sequence, Disjunction, Negation, Exclusion, Iteration, Restriction)

lifetimes = st.sampled_from([None, None, 3, 8])
origins = st.sampled_from([None, None, 0, 4])


def expected(pattern, history) -> Counter:
    return Counter(map(seen, history.occurrences(pattern)))


def seen(occurrence):
    """Return what can be compared of an occurrence."""
    rows = frozenset(frozenset(row) for row in occurrence.rows)
    return (occurrence.start, occurrence.end, rows, occurrence.match, tuple(map(seen, occurrence.parts)))


def told(instance):
    """Return the same of an instance of the detector."""
    rows = frozenset(frozenset(row.items()) for row in instance.rows)
    return (instance.start, instance.end, rows, instance.label, tuple(map(told, instance.constituents)))


def detector_for(*found, lifetime=None, origin=None) -> Detector:
    detector = Detector(
        lifetime=None if lifetime is None else timedelta(microseconds=lifetime),
        start=None if origin is None else moment_of(origin),
    )
    for number, pattern in enumerate(found):
        detector.subscribe(Composite(f"c{number}", pattern))
    return detector


def put(detector: Detector, fact: Fact) -> bool:
    rows = tuple(map(dict, fact.rows))
    return detector.put(fact.subscription, fact.event, fact.start, fact.end, rows, fact.lifetime)


def detected(pattern, history: list[Fact], lifetime, origin) -> Counter:
    detector = detector_for(pattern, lifetime=lifetime, origin=origin)
    for fact in history:
        put(detector, fact)
    return Counter(told(detection.instance) for detection in detector.advance_to(END))


def drawn(seed: int):
    """Return a pattern, a history and the conditions under which it is looked at."""
    random = Random(seed)
    pattern = Drawing(random.random()).pattern(random.choice([1, 2, 3]))
    policy = random.choice([None, *Policy])
    history = generated(random.randint(4, 13), random.random())
    pattern = pattern if policy is None else with_policy(pattern, policy)
    return pattern, history, random.choice([None, None, 3, 8]), random.choice([None, None, 0, 4])


@pytest.mark.parametrize("block", range(4))
def test_the_detector_finds_what_is_defined(block):
    found_in = Counter()
    for seed in range(block * 1000, (block + 1) * 1000):
        pattern, history, lifetime, origin = drawn(seed)
        found = detected(pattern, history, lifetime, origin)
        assert found == expected(pattern, History(history, lifetime, origin)), (seed, pattern)
        found_in[type(pattern)] += bool(found)
    assert min(found_in[kind] for kind in KINDS) >= 5, found_in


@pytest.mark.full
@pytest.mark.parametrize("block", range(4, 54))
def test_the_detector_finds_what_is_defined_in_many_more_cases(block):
    test_the_detector_finds_what_is_defined(block)


@settings(max_examples=500, deadline=None)
@given(patterns(depth=3), facts(), lifetimes, origins, st.sampled_from([None, *Policy]))
def test_the_detector_finds_what_is_defined_in_the_simplest_cases(pattern, history, lifetime, origin, policy):
    pattern = pattern if policy is None else with_policy(pattern, policy)
    assert detected(pattern, history, lifetime, origin) == expected(pattern, History(history, lifetime, origin))


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 8), st.randoms(use_true_random=False))
def test_any_order_of_arrival_within_the_lateness_gives_the_same(seed, lateness, random):
    """W1, W2: the watermark follows the matches at a distance, and each comes at most that much late."""
    pattern, history, lifetime, origin = drawn(seed)
    detector = detector_for(pattern, lifetime=lifetime, origin=origin)
    arriving = sorted(history, key=lambda fact: fact.end + random.random() * (lateness + 0.99))
    found, latest = Counter(), 0
    for fact in arriving:
        latest = max(latest, fact.end)
        in_time = put(detector, fact)
        assert in_time or (origin is not None and fact.end <= origin)
        found.update(told(each.instance) for each in detector.advance_to(latest - lateness - 1))
    found.update(told(each.instance) for each in detector.advance_to(END))
    assert found == expected(pattern, History(history, lifetime, origin))


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32))
def test_each_detection_is_told_when_it_can_be_known(seed):
    """W2, W3, W4: time passes tick by tick."""
    pattern, history, lifetime, origin = drawn(seed)
    detector = detector_for(pattern, lifetime=lifetime, origin=origin)
    for fact in history:
        put(detector, fact)
    found = Counter()
    for watermark in range((origin or 0) + 1, 150):
        for detection in detector.advance_to(watermark):
            instance = detection.instance
            found[told(instance)] += 1
            last = instance.end + delay(pattern)
            assert instance.end <= watermark <= last
            if isinstance(pattern, Negation | Exclusion) or getattr(pattern, "count", 0) is None:
                assert watermark == last
    found.update(told(each.instance) for each in detector.advance_to(END))
    assert found == expected(pattern, History(history, lifetime, origin))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 2**32), min_size=2, max_size=5), st.randoms(use_true_random=False))
def test_subscriptions_together_find_what_each_finds_alone(seeds, random):
    """C3, W5: sharing changes nothing, nor does who comes and goes meanwhile."""
    wanted = [drawn(seed)[0] for seed in seeds]
    wanted.append(random.choice(wanted))
    history = sorted(drawn(seeds[0])[1], key=lambda fact: fact.end)
    middle = history[len(history) // 2].end
    detector = detector_for(*wanted)
    detector.subscribe(Composite("goes", random.choice(wanted)))
    found = {name: Counter() for name in (*detector.composites, "comes")}
    early = [fact for fact in history if fact.end <= middle or random.random() < 0.3]
    later = [fact for fact in history if fact not in early]
    for fact in early:
        put(detector, fact)

    def advance(watermark):
        for detection in detector.advance_to(watermark):
            found[detection.subscription_id][told(detection.instance)] += 1

    advance(middle)
    detector.unsubscribe("goes")
    detector.subscribe(Composite("comes", wanted[-1]))
    for fact in later:
        put(detector, fact)
    advance(END)
    for number, pattern in enumerate(wanted):
        assert found[f"c{number}"] == expected(pattern, History(history))
    assert found["comes"] == expected(wanted[-1], History(later, origin=middle))
    for name in list(detector.composites):
        detector.unsubscribe(name)
    assert detector.counters.operators == detector.counters.live == 0


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 20))
def test_a_detector_goes_on_from_its_state(seed, watermark):
    """The state is plain data: through JSON and back, nothing is lost or doubled."""
    pattern, history, lifetime, origin = drawn(seed)
    detector = detector_for(pattern, lifetime=lifetime, origin=origin)
    for fact in history:
        put(detector, fact)
    found = Counter(told(each.instance) for each in detector.advance_to(watermark))
    state = json.loads(json.dumps(detector.state()))
    option = None if lifetime is None else timedelta(microseconds=lifetime)
    detector = Detector.restored(state, detector.composites, lifetime=option)
    assert json.loads(json.dumps(detector.state())) == state
    found.update(told(each.instance) for each in detector.advance_to(END))
    assert found == expected(pattern, History(history, lifetime, origin))


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32))
def test_work_can_be_divided_by_the_variables_that_correlate_everything(seed):
    pattern, history, lifetime, _ = drawn(seed)
    division = dividing(Composite("c", pattern))
    parts: dict[tuple, list[Fact]] = {}
    for fact in history:
        names = division.get(fact.subscription, ())
        for row in fact.rows:
            values = tuple(dict(row).get(name) for name in names)
            kept = tuple(each for each in fact.rows if tuple(dict(each).get(name) for name in names) == values)
            if None not in values and (part := replace(fact, rows=kept)) not in parts.setdefault(values, []):
                parts[values].append(part)
    apart = Counter()
    for part in parts.values():
        apart += outlined(detected(pattern, part, lifetime, None))
    assert apart == outlined(detected(pattern, history, lifetime, None))


def outlined(found: Counter) -> Counter:
    """Return detections without the answers of what they are made of: a part sees only its own answers of a match."""
    outlines: Counter = Counter()
    for (start, end, rows, label, constituents), count in found.items():
        outlines[start, end, rows, label, _outline(constituents)] += count
    return outlines


def _outline(constituents: tuple) -> tuple:
    return tuple((start, end, label, _outline(parts)) for start, end, _, label, parts in constituents)
