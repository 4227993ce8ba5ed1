"""The words of the language."""

from __future__ import annotations

from ontosub.model.composite import AggregateFunction
from ontosub.model.relation import Relation

RELATIONS = {relation.value: relation.value for relation in Relation} | {
    "contains": Relation.INCLUDES.value,
    "=": Relation.EQUALS.value,
}
"""How relations are written, and which they are. Some are two words."""

LANGUAGES = ("sparql", "ops", "mdv")
SUFFIXES = ("within", "where", "per", "with", "reuse", "consume")
AGGREGATES = tuple(function.value for function in AggregateFunction)
RESERVED = frozenset(
    {"and", "or", "not", "parallel", "times", "as", "prefix", "base", *SUFFIXES}
    | {word for relation in RELATIONS for word in relation.split()[:1] if word.isalpha()}
)
"""Words that cannot be a bare name; a name in quotes may be anything."""
