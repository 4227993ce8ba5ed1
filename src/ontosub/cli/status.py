"""A line that says how things are going: on a terminal one that changes, elsewhere one now and then."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Event as Signal
from threading import Thread
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner

_TERMINAL_S, _LOG_S = 0.5, 30.0
"""How often the line is shown."""


class StatusLine:
    """Shows what `line` returns, on standard error, as long as it is entered."""

    def __init__(self, line: Callable[[], str], *, shown: bool = True, console: Console | None = None) -> None:
        self._line, self._shown = line, shown
        self._console = console or Console(stderr=True)
        self._over = Signal()
        self._thread = Thread(target=self._show, daemon=True)

    def __enter__(self) -> Self:
        if self._shown:
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        if self._shown:
            self._thread.join()

    def _show(self) -> None:
        if not self._console.is_terminal:
            while not self._over.wait(_LOG_S):
                self._console.print(self._line(), highlight=False)
            return
        spinner = Spinner("dots", self._line())
        # Results stay on standard output; only where both are one terminal must the line make room for them.
        with Live(spinner, console=self._console, transient=True, redirect_stdout=sys.stdout.isatty()):
            while not self._over.wait(_TERMINAL_S):
                spinner.update(text=self._line())
