"""The one fault of filter evaluation: an expression that has no value."""

from __future__ import annotations

from ontosub.model.errors import OntosubError


class ExpressionError(OntosubError):
    """SPARQL's type error: the expression has no value under this binding. As a filter it does not hold."""
