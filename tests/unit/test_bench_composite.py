"""The benchmark of composite events: what it draws, and that its peer has the same answers."""

from collections import Counter

import pytest
from typer.testing import CliRunner

from ontosub.bench import composite
from ontosub.cli import app
from ontosub.model.composite import Conjunction, Exclusion, Iteration, Sequence
from ontosub.model.errors import OntosubError


def test_the_mix_has_all_kinds_and_is_drawn_from_the_seed():
    drawn = composite.mixed(1000, seed=1)
    kinds = Counter(type(each.pattern) for each in drawn)
    assert kinds.keys() == {Sequence, Conjunction, Exclusion, Iteration}
    assert min(kinds.values()) > 50
    assert drawn == composite.mixed(1000, seed=1) != composite.mixed(1000, seed=2)


def test_the_stream_is_out_of_order_but_never_too_late():
    stream = composite.matches(2_000, seed=1)
    found = composite.rate(composite.mixed(50, seed=1), stream)
    assert found.best > 0
    ends = [match.interval.end for match in stream]
    assert ends != sorted(ends)
    assert max(end - later for number, end in enumerate(ends) for later in ends[number + 1 :]) <= composite.LATENESS


def test_the_peer_finds_the_same_sequences(monkeypatch):
    pytest.importorskip("duckdb")
    monkeypatch.setattr(composite, "PRIMITIVES", 20)
    monkeypatch.setattr(composite, "KEYS", 5)
    wanted, stream = composite.sequences(50, seed=1), composite.matches(2_000, seed=1)
    both = composite.compare(wanted, stream)
    assert both.detections > 1000
    assert both.duckdb
    found = composite._duckdb
    monkeypatch.setattr(composite, "_duckdb", lambda *given: (1.0, found(*given)[1][:-1]))
    with pytest.raises(OntosubError, match="not find the same"):
        composite.compare(wanted, stream)


def test_the_command_reports_both():
    result = CliRunner().invoke(app, ["bench", "--composite", "--events", "2000", "--size", "20"])
    assert result.exit_code == 0
    assert "20 composites of all kinds, 2,000 matches" in result.output
    assert "20 sequences, reuse" in result.output
