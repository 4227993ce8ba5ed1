"""Delivering: whom a batch waits for, and how long. No clock takes part."""

from __future__ import annotations

from pathlib import Path

import pytest

from ontosub.model.errors import Unavailable
from ontosub.pipeline.delivering import ASKED_WAIT_S_MAX, Delivering
from ontosub.pipeline.staging import Outcome, Staging
from ontosub.sinks import Delivery, Sink


class Busy(Sink):
    """Asks for time, as often as it is told to."""

    def __init__(self, *waits_s: float) -> None:
        self.asks = list(waits_s)

    def open(self) -> None: ...

    def close(self) -> None: ...

    def deliver(self, delivery: Delivery) -> None:
        if self.asks:
            raise Unavailable("busy", wait_s=self.asks.pop(0))


class Patience:
    """What a pipeline waits with: nobody stops it."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    def wait(self, seconds: float) -> bool:
        self.waited.append(seconds)
        return False


@pytest.mark.parametrize(
    ("asked", "waited"),
    [([0, 0, 0], [0.5, 1, 2]), ([17, 0], [17, 1]), ([0.1], [0.5]), ([1e9, 0], [ASKED_WAIT_S_MAX, 1])],
)
def test_who_asks_for_time_gets_it_within_limits(tmp_path: Path, asked, waited):
    patience, said = Patience(), []
    delivering = Delivering("p", 0, [Busy(*asked)], [], Staging(tmp_path), patience, said.append)
    delivering.deliver(0, Outcome(("matches.parquet",), (), 1, 1, 0))
    assert patience.waited == waited
    assert len(said) == len(waited)


class Halting(Busy):
    """Gets on a little each time but the third and fourth."""

    def deliver(self, delivery: Delivery) -> None:
        try:
            super().deliver(delivery)
        except Unavailable as error:
            error.has_progressed = len(self.asks) not in (2, 3)
            raise


def test_who_has_got_on_is_not_waited_for_longer(tmp_path: Path):
    patience = Patience()
    delivering = Delivering("p", 0, [Halting(*[0] * 6)], [], Staging(tmp_path), patience, lambda told: None)
    delivering.deliver(0, Outcome(("matches.parquet",), (), 1, 1, 0))
    assert patience.waited == [0.5, 0.5, 1, 2, 0.5, 0.5]
