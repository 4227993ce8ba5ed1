"""Composite events: patterns over several events, detected in event time."""

from ontosub.composite.composite_matcher import CompositeMatcher, Published
from ontosub.composite.detection import Constituent, Detection
from ontosub.composite.detector import Counters, Detector
from ontosub.composite.waiting import Waiting

__all__ = ["CompositeMatcher", "Constituent", "Counters", "Detection", "Detector", "Published", "Waiting"]
