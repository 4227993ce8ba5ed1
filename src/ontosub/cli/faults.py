"""What a user can get wrong, and how it is said: a message on standard error, exit code 2, never a traceback."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import typer

from ontosub.cli.terminal import show
from ontosub.inputs.faults import FAULTS, diagnostic_of
from ontosub.model import Diagnostic, Severity
from ontosub.model.errors import OntosubWarning

BAD_INPUT = 2


def say(diagnostic: Diagnostic, *, err: bool = True) -> None:
    """Show a diagnostic, on standard error unless it is a result itself."""
    show(*f"{diagnostic.severity}: {diagnostic}".split("\n"), err=err)


def refuse(diagnostics: Iterable[Diagnostic]) -> None:
    """Show the diagnostics, and end the command when there are any."""
    found = list(diagnostics)
    for diagnostic in found:
        say(diagnostic)
    if found:
        raise typer.Exit(BAD_INPUT)


def _warn(warning: Warning | str) -> None:
    told = diagnostic_of(warning) if isinstance(warning, Warning) else Diagnostic(warning)
    say(replace(told, severity=Severity.WARNING))


@contextmanager
def reported(*, strict: bool = False) -> Iterator[None]:
    """Run a command's body so that faults and warnings are told to the user. With `strict`, warnings are faults."""
    with warnings.catch_warnings():
        warnings.simplefilter("error" if strict else "always", OntosubWarning)
        warnings.showwarning = lambda message, *_, **__: _warn(message)
        try:
            yield
        except BrokenPipeError:
            raise
        except FAULTS as error:
            refuse([diagnostic_of(error)])
