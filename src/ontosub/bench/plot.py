"""A picture of outcomes: time for one event over the number of subscriptions, both on logarithmic scales."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ontosub.bench.runner import Outcome
from ontosub.model.errors import UsageError

FORMATS = (".png", ".svg", ".pdf")


def check_plot(path: Path) -> None:
    """Raise UsageError if the picture could not be drawn at the end."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(
            f"a picture is drawn as one of {', '.join(FORMATS)}, not as {path.suffix or 'nothing'}: {path}"
        )
    if find_spec("matplotlib") is None:
        raise UsageError("a picture needs matplotlib: pip install 'ontosub[bench]'")


def plot(outcomes: Sequence[Outcome], path: Path) -> None:
    """Draw one panel for each workload, one line for each engine, one point for each size that it really ran with."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(outcome.workload.name for outcome in outcomes))
    figure = Figure(figsize=(5 * len(names), 4.5), layout="constrained")
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    for name, panel in zip(names, panels, strict=True):
        for engine, points in _lines(outcomes, name).items():
            sizes, times = zip(*sorted(points), strict=True)
            panel.plot(sizes, times, marker="o", label=engine)
        panel.set(title=name, xlabel="subscriptions", ylabel="ms per event", xscale="log", yscale="log")
        panel.grid(visible=True, which="major", alpha=0.3)
        panel.legend()
    figure.savefig(path)


def _lines(outcomes: Sequence[Outcome], name: str) -> dict[str, set[tuple[int, float]]]:
    lines: dict[str, set[tuple[int, float]]] = {}
    for outcome in outcomes:
        for each in outcome.measurements if outcome.workload.name == name else ():
            lines.setdefault(each.engine, set()).add((each.subscriptions, each.match_ms))
    return lines
