"""The benchmark of shards: a worker needs less memory for each, and matches are checked first."""

import pytest
from typer.testing import CliRunner

from amounts import at_most
from ontosub.bench import sharding
from ontosub.bench.workloads import WORKLOADS
from ontosub.cli import app
from ontosub.model.errors import OntosubError


def test_memory_falls_with_the_number_of_shards(tmp_path):
    workload = WORKLOADS["mixed"].generate(at_most(20_000, quick=5_000), 20, 1)
    one, four = sharding.memory(tmp_path, workload, [1, 4])
    assert (one.shards, four.shards) == (1, 4)
    assert one.matches == four.matches > 0
    assert four.stored < one.stored / 2
    assert four.resident < one.resident


def test_a_match_that_is_missing_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(sharding, "_in_a_process", lambda path, events: (0, set()))
    with pytest.raises(OntosubError, match="2 shards have not the matches"):
        list(sharding.memory(tmp_path, WORKLOADS["mixed"].generate(500, 20, 1), [2]))


def test_the_command_shows_it():
    told = CliRunner().invoke(app, ["bench", "--size", "500", "--events", "20", "--shards", "2"])
    assert told.exit_code == 0, told.output
    assert "mixed 500, 2 shards: the largest takes" in told.output
