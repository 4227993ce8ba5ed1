"""Which exceptions speak of what was given, and what they say of it."""

from __future__ import annotations

from dataclasses import replace

from ontosub.model import Diagnostic
from ontosub.model.errors import OntosubError, OntosubWarning

FAULTS = (OntosubError, OntosubWarning, OSError)
"""The exceptions that speak of the input. Any other is a defect of Ontosub and may show its traceback."""


def diagnostic_of(error: Exception, source: str | None = None) -> Diagnostic:
    """Return what an exception says, as said of `source`."""
    if isinstance(error, OntosubError):
        return replace(error.diagnostic, source=source or error.diagnostic.source)
    if isinstance(error, OntosubWarning) and error.args and isinstance(error.args[0], Diagnostic):
        return error.args[0]
    if isinstance(error, OSError) and error.strerror:
        where = str(error.filename) if error.filename is not None else source
        return Diagnostic(f"cannot be read: {error.strerror.lower()}", source=where)
    return Diagnostic(str(error), source=source)
