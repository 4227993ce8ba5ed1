"""What people read on a terminal: our lines, with foreign text in them that cannot break out of its line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from ontosub.model.terminal import printable


def show(*lines: str, err: bool = False) -> None:
    """Write lines to standard output or error. Control characters in a line, be they line feeds, show as codes."""
    typer.echo("\n".join(map(printable, lines)), err=err)


class Commands(TyperGroup):
    """The commands; what a call gets wrong is repeated as foreign text: a shell puts names of files there as well."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        with _printable_refusals():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        with _printable_refusals():
            return super().invoke(ctx)


_REFUSAL: type[Exception] = typer.BadParameter.__mro__[1]
"""UsageError, of click or of the copy of it that a newer Typer has."""


@contextmanager
def _printable_refusals() -> Iterator[None]:
    try:
        yield
    except _REFUSAL as error:
        vars(error)["message"] = printable(str(vars(error)["message"]))
        raise
