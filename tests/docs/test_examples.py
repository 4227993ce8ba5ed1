"""Each example runs, notifies whom it should, and says the same every time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ontosub.cli import app

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent.name for path in ROOT.glob("examples/*/__main__.py"))


def run(name: str, seed: str = "0") -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-W", "error", "-m", f"examples.{name}"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def notified(output: str) -> set[tuple[str, str]]:
    """Return (event, subscription) of every notification in an example's output."""
    found, event = set(), ""
    for line in output.splitlines():
        if line and line[0] not in "├└│ ":
            event = line
        elif " is notified: " in line:
            found.add((event.split(" (")[0], line.split(" is notified: ")[0].strip("├└│─ ")))
    return found


def test_there_are_examples():
    assert EXAMPLES == ["auction", "providers", "sensors"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_runs_the_same_every_time_within_100_columns(name: str):
    output = run(name)
    assert output == run(name, seed="1")
    assert max(map(len, output.splitlines())) <= 100


@pytest.mark.parametrize("name", EXAMPLES)
def test_has_nothing_wrong_in_it(name: str):
    result = CliRunner().invoke(app, ["check", "--folder", str(ROOT / "examples" / name)])
    assert result.exit_code == 0
    assert result.stderr.startswith("0 errors")


def test_auction():
    output = run("auction")
    assert notified(output) == {
        ("desktop.ttl", "big-disks"),
        ("desktop.ttl", "made-in-usa"),
        ("notebook.jsonld", "cheap-computers"),
        ("notebook.jsonld", "known-caller"),
        ("offer A-4711", "big-disks"),
        ("offer A-4711", "cheap-computers"),
        ("offer A-4711", "made-in-usa"),
        ("lot 17", "bargains"),
        ("lot 17", "made-in-usa"),
        ("lot 18", "bargains"),
        ("lot 18", "made-in-usa"),
        ("wanted.json", "laptops-wanted"),
    }
    assert "cheap-computers is not notified: ?3 = 450.00 is not < 400.00" in output


def test_providers():
    output = run("providers")
    assert notified(output) == {
        ("doc.rdf", "fast-passau"),
        ("doc.rdf", "machines"),
        ("doc.rdf", "passau"),
        ("doc.rdf", "pirates"),
        ("functions.ttl", "joins"),
        ("functions.ttl", "reachable"),
        ("small.rdf", "machines"),
    }
    assert "32 is not > 64" in output


def test_sensors():
    output = run("sensors")
    assert notified(output) == {
        ("heat-1", "call-the-manager"),
        ("heat-1", "heat"),
        ("heat-1", "hot-in-building2"),
        ("heat-1", "near-the-servers"),
        ("heat-1", "thermometers"),
        ("readings.ttl", "near-the-servers"),
        ("readings.ttl#2", "call-the-manager"),
        ("readings.ttl#2", "thermometers"),
        ("readings.ttl#3", "near-the-servers"),
        ("smoke-1", "near-the-servers"),
        ("smoke-1", "smoke"),
        ("warm.json", "call-the-manager"),
        ("warm.json", "hot-in-building2"),
        ("warm.json", "near-the-servers"),
        ("warm.json", "thermometers"),
    }
    assert "24.5 is not > 30" in output
    assert output.count(": detected") == 1
    assert "smoke by event smoke-1" in output[output.index("fire: detected") :]


def test_sensors_on_the_command_line():
    result = CliRunner().invoke(app, ["match", "--folder", str(ROOT / "examples/sensors")])
    assert (result.exit_code, result.stderr) == (0, "")
    assert "fire: detected" in result.stdout
