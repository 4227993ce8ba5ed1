"""Run this example: `python -m examples.sensors`."""

from pathlib import Path

from examples.runner import run

run(Path(__file__).parent)
