"""The progress bar: for people who wait, and for nobody else."""

import io
from collections.abc import Callable

import pytest
from rich.console import Console

from ontosub.cli import progress
from ontosub.cli.progress import shown


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
