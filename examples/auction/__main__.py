"""Run this example: `python -m examples.auction`."""

from pathlib import Path

from examples.runner import run

run(Path(__file__).parent)
