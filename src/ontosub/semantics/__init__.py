"""Meaning: what an ontology says, what follows from it, and what a filter is true of."""

from ontosub.model import readers
from ontosub.semantics.check import check_ontology
from ontosub.semantics.entailment import Entailment
from ontosub.semantics.event_graph import EventGraph
from ontosub.semantics.loading import read_ontology
from ontosub.semantics.values import is_ill_typed

readers.register("literal.is_ill_typed", is_ill_typed)
readers.register("ontology.read", read_ontology)
readers.register("ontology.check", check_ontology)

__all__ = ["Entailment", "EventGraph", "check_ontology", "read_ontology"]
