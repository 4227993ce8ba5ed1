"""The values that everything else speaks of: frozen, without I/O, over pyoxigraph's terms."""

from ontosub.model.errors import Diagnostic, Severity, Span
from ontosub.model.event import Event
from ontosub.model.expression import Call, Expression, Function
from ontosub.model.interval import Interval
from ontosub.model.match import Binding, Match
from ontosub.model.ontology import MetaStatement, Ontology
from ontosub.model.pattern import Arc, Filter, GraphPattern, TemplateTriple, Vertex
from ontosub.model.subscription import Subscription

__all__ = [
    "Arc",
    "Binding",
    "Call",
    "Diagnostic",
    "Event",
    "Expression",
    "Filter",
    "Function",
    "GraphPattern",
    "Interval",
    "Match",
    "MetaStatement",
    "Ontology",
    "Severity",
    "Span",
    "Subscription",
    "TemplateTriple",
    "Vertex",
]
