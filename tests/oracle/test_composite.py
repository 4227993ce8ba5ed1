"""The detector finds what docs/COMPOSITE.md defines, in whatever order matches arrive and time passes."""

from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from composite_generators import facts, patterns, with_policy
from ontosub.composite import Detector
from ontosub.composite.moments import moment_of
from ontosub.model.composite import Composite, Policy
from oracle.composite_definition import Fact, History

END = 10_000

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


@settings(max_examples=1500, deadline=None)
@given(patterns(depth=3), facts(), lifetimes, origins, st.sampled_from([None, *Policy]))
def test_the_detector_finds_what_is_defined(pattern, history, lifetime, origin, policy):
    pattern = pattern if policy is None else with_policy(pattern, policy)
    found = detected(pattern, history, lifetime, origin)
    event(f"{type(pattern).__name__}, {'something' if found else 'nothing'} found")
    assert found == expected(pattern, History(history, lifetime, origin))
