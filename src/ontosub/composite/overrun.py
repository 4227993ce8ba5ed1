"""Overruns: an instance for which an operator did not try all combinations, because there were too many."""

from __future__ import annotations

from ontosub.model import Diagnostic, Severity


def overrun_warning(composite_id: str, count: int) -> Diagnostic:
    """Return the warning that a composite may lack detections, because of the overruns of `count` instances."""
    instances = "1 instance" if count == 1 else f"{count:,} instances"
    return Diagnostic(
        f"the composite {composite_id} may lack detections: for {instances}, not all combinations were tried",
        Severity.WARNING,
        "Make it more selective: with a shorter window, shared variables, or conditions on single operands.",
    )
