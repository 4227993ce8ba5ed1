"""Ontosub: publish knowledge, subscribe by meaning.

Publishers send events (RDF graphs, or JSON, XML, CSV that become RDF); subscribers say what they want as graph
patterns; an ontology lets them meet by meaning.
"""

from ontosub import formats, languages, semantics  # noqa: F401 - importing them registers their readers
from ontosub.composite import CompositeMatcher, Detection, Detector
from ontosub.languages.composite import on
from ontosub.matching import Explanation, Matcher
from ontosub.model import (
    Binding,
    Diagnostic,
    Event,
    GraphPattern,
    Interval,
    Match,
    Ontology,
    Subscription,
)
from ontosub.model.composite import Composite
from ontosub.model.errors import InputError, OntosubError, OntosubWarning

__all__ = [
    "Binding",
    "Composite",
    "CompositeMatcher",
    "Detection",
    "Detector",
    "Diagnostic",
    "Event",
    "Explanation",
    "GraphPattern",
    "InputError",
    "Interval",
    "Match",
    "Matcher",
    "Ontology",
    "OntosubError",
    "OntosubWarning",
    "Subscription",
    "on",
]

__version__ = "0.1.0"
