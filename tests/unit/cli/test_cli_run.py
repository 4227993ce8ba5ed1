"""`ontosub run` as a user calls it: what it says, and that it fails before anything starts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ontosub.cli import app

EXAMPLES = Path(__file__).parents[3] / "examples"


def refused(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["run", *map(str, arguments)])
    assert result.exit_code == 2, result.output
    return result.output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "s.rq").write_text("SELECT ?s { ?s ?p ?o }")
    (tmp_path / "events").mkdir()
    return tmp_path


class TestRefused:
    def test_no_state(self, folder):
        assert "--state is missing" in refused("--source", f"files:{folder}", "-s", folder / "s.rq")

    def test_no_source(self, folder):
        assert "source is missing" in refused("-s", folder / "s.rq", "--state", folder / "state")

    @pytest.mark.parametrize("source", ["files", "flies:x", "files:", "kafka:x"])
    def test_short_forms(self, folder, source):
        told = refused("--source", source, "-s", folder / "s.rq", "--state", folder / "state")
        assert f"--source {source}" in told

    def test_an_unknown_way_of_printing(self, folder):
        source, state = f"files:{folder / 'events'}", folder / "state"
        told = refused("--source", source, "-s", folder / "s.rq", "--state", state, "--sink", "print:xml")
        assert "option format of the sink print: a text is not one of text, json" in told

    def test_a_path_where_nothing_is(self, folder):
        told = refused("--source", f"files:{folder}/no", "-s", folder / "s.rq", "--state", folder / "state")
        assert "path" in told
        assert "no such folder" in told
        assert not (folder / "state").exists()

    def test_no_config(self, folder):
        assert "no.toml" in refused(folder / "no.toml")

    def test_bad_config(self, folder):
        (folder / "p.toml").write_text("source = 3\n")
        assert "source: a whole number" in refused(folder / "p.toml")


def run(example: str, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    config = EXAMPLES / example / "pipeline.toml"
    command = [sys.executable, "-m", "ontosub", "run", str(config), *map(str, arguments)]
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=280, check=False)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory) -> Path:
    """Return where the kernels of `done` are kept: none is there when it begins."""
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(scope="module")
def done(kernels, tmp_path_factory) -> subprocess.CompletedProcess[str]:
    """Return a run of the example that has ended."""
    state = tmp_path_factory.mktemp("run") / "state"
    return run("auction", "--once", "--state", state, NUMBA_CACHE_DIR=str(kernels))


@pytest.mark.xdist_group("processes")
class TestExample:
    def test_runs(self, done):
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert "bargains: event lot 17 matches" in lines
        assert sum(line.endswith(" matches") for line in lines) == 12
        assert any(line.startswith("    ?") for line in lines)
        assert "12 matches, 0 rejects" in done.stderr
        assert "Traceback" not in done.stderr, done.stderr

    def test_needs_no_kernels_to_begin(self, done, kernels):
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("note: compiling the matching kernels, once for this machine …") == 1
        compiled = {path.name.partition("-")[0] for path in kernels.rglob("*.nbi")}
        assert "walk.walk" not in compiled, "the process that compiles is far from done"

    @pytest.mark.full
    def test_runs_with_kernels(self, tmp_path):
        done = run("auction", "--once", "--state", tmp_path / "state")
        assert done.returncode == 0, done.stderr
        assert sum(line.endswith(" matches") for line in done.stdout.splitlines()) == 12
        assert "12 matches, 0 rejects" in done.stderr
        assert "Traceback" not in done.stderr, done.stderr

    @pytest.mark.full
    def test_backtest(self, tmp_path):
        done = run("auction", "--backtest", "--samples", 1, "--json", "--state", tmp_path / "state")
        assert done.returncode == 0, done.stderr
        fired = {row["subscription"]: row["events"] for row in map(json.loads, done.stdout.splitlines())}
        assert fired["made-in-usa"] == 4
        assert sum(fired.values()) == 12
        assert not (tmp_path / "state").exists()

    def test_backtest_with_a_composite(self, tmp_path):
        done = run("sensors", "--backtest", "--samples", 1, "--json", "--state", tmp_path / "state")
        assert done.returncode == 0, done.stderr
        fired = {row["subscription"]: row for row in map(json.loads, done.stdout.splitlines())}
        assert fired["smoke"]["events"] == fired["heat"]["events"] == fired["fire"]["events"] == 1
        assert fired["fire"]["samples"][0]["events"] == ["smoke.cloudevent", "heat.cloudevent"]
        assert not (tmp_path / "state").exists()
