"""The command line: match events, check inputs, explain answers, time engines. One module for each command.

Results go to standard output, everything about them to standard error. Exit code 0 means that all input was good, 2
that some was not, or that the call makes no sense; a message then says where and what to do.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from ontosub import __version__
from ontosub.cli import bench, check, explain, match, run, warm
from ontosub.cli.terminal import Commands

app = typer.Typer(
    name="ontosub",
    cls=Commands,
    help="Publish knowledge, subscribe by meaning.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for command in (match, run, check, explain, bench, warm):
    app.command(name=command.__name__.rpartition(".")[2])(command.command)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"ontosub {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Publish knowledge, subscribe by meaning."""


def main() -> None:
    """Run the command that the process's arguments name."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a character shows its escape; that is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader left early (`| head`). Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
