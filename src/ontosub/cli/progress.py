"""A progress bar for what takes long: on standard error, only on a terminal, only after two seconds."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from threading import Timer
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

PATIENCE_S = 2.0

T = TypeVar("T")


def shown(items: Sequence[T], what: str, console: Console | None = None) -> Iterator[T]:
    """Yield the items, and show how far along they are as soon as somebody might begin to wonder."""
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield from items
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    # Results stay on standard output; only where both are one terminal must the bar make room for them.
    progress = Progress(*columns, console=console, transient=True, redirect_stdout=sys.stdout.isatty())
    patience = Timer(PATIENCE_S, progress.start)
    patience.daemon = True  # who leaves early is not made to wait
    patience.start()
    try:
        yield from progress.track(items, description=what)
    finally:
        patience.cancel()
        patience.join()
        progress.stop()
