"""The progress bar: for people who wait, and for nobody else."""

import io
import sys
from collections.abc import Callable
from threading import Event as Signal

import pytest
from rich.console import Console

from ontosub.cli import progress
from ontosub.cli.progress import shown
from ontosub.cli.status import StatusLine


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=80)


def drawn(console: Console) -> str:
    return console.file.getvalue()


def test_items_pass_through():
    assert list(shown([1, 2, 3], "counting", terminal())) == [1, 2, 3]


def test_nothing_is_drawn_at_first():
    console = terminal()
    list(shown([1, 2, 3], "counting", console))
    assert drawn(console) == ""


class Impatient:
    """A timer whose time is up as soon as it starts."""

    def __init__(self, _interval_s: float, function: Callable[[], None]) -> None:
        self.start = function

    def cancel(self) -> None:
        pass

    join = cancel


def test_a_bar_is_drawn_when_it_takes_long(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(progress, "Timer", Impatient)
    console = terminal()
    assert list(shown([1, 2, 3], "counting", console)) == [1, 2, 3]
    assert "counting" in drawn(console)


def test_nothing_is_ever_drawn_elsewhere_than_on_a_terminal(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(progress, "Timer", Impatient)
    console = Console(file=io.StringIO(), force_terminal=False)
    assert list(shown([1, 2, 3], "counting", console)) == [1, 2, 3]
    assert drawn(console) == ""


def test_rows_stay_on_standard_output_beside_a_status_line(monkeypatch: pytest.MonkeyPatch):
    calls, is_drawn = [], Signal()

    def line() -> str:
        calls.append(None)
        if len(calls) > 1:  # the first comes before it is drawn
            is_drawn.set()
        return "going on"

    monkeypatch.setattr(sys, "stdout", io.StringIO())
    console = terminal()
    with StatusLine(line, console=console):
        assert is_drawn.wait(60)
        print("a row")
    assert sys.stdout.getvalue() == "a row\n"
    assert "going on" in drawn(console)
    assert "a row" not in drawn(console)
