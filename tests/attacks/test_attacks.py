"""A hostile subscription goes without an answer, alone: within its budget, and whatever way it is asked.

`ATTACKS` has the subscriptions. Each is asked in a process that memory and processor time are limited for; these limits
are only there so that a failure ends. What is judged is the verdict of the budget.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attack_list import ATTACKS, INNOCENT

# One worker compiles the kernels, and runs one driver at a time.
pytestmark = [pytest.mark.xdist_group("compiled"), pytest.mark.timeout(900)]

Ask = Callable[[str], dict[str, dict[str, Any]]]

QUICK = frozenset(
    {
        "answers-that-repeat-a-large-literal",
        "concat-100-nested",
        "decimal-squares",
        "four-steps-starred-on-a-clique",
        "group-concat-of-large",
        "integer-squares",
        "minus-over-optional-variables",
        "path-without-a-visible-variable",
        "regex-on-large",
        "replace-that-grows",
        "residual-answers-that-repeat-a-large-literal",
        "select-doubling",
        "sha512-of-large-for-each-row",
        "stars-of-stars",
        "substr-of-large",
        "ucase-of-large-for-each-row",
        "ucase-of-large-in-a-filter",
    }
)
"""The attacks that a budget ends at once. Of the others each takes seconds, three times, for each algorithm."""


def attempts() -> Iterator[Any]:
    """Yield every attack for every algorithm."""
    for algorithm in ("naive", "compiled"):
        for name in ATTACKS:
            yield pytest.param(algorithm, name, marks=[] if name in QUICK else [pytest.mark.full])


@pytest.fixture(scope="module")
def ask(request: pytest.FixtureRequest) -> Iterator[Ask]:
    """Yield how to have an algorithm attacked."""
    command = [sys.executable, str(Path(__file__).with_name("attack_driver.py")), request.param]
    paths = os.pathsep.join(path for path in sys.path if path)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, told = process.stdin, process.stdout
        assert told.readline() == "ready\n"

        def attacked(name: str) -> dict[str, dict[str, Any]]:
            print(name, file=asked, flush=True)
            found: dict[str, dict[str, Any]] = json.loads(told.readline())
            return found

        yield attacked
        asked.close()


@pytest.mark.parametrize(("ask", "name"), list(attempts()), indirect=["ask"])
def test_only_the_hostile_one_goes_without_an_answer(ask: Ask, name: str) -> None:
    faults = [f"{way}: {fault}" for way, told in ask(name).items() if (fault := fault_of(name, way, told))]
    assert faults == []


def fault_of(name: str, way: str, told: dict[str, Any]) -> str | None:
    """Return what is wrong with how an attack ended, if anything is."""
    attack = ATTACKS[name]
    if "ended" in told:
        return str(told["ended"])
    if "event_refused" in told:
        return None if attack.event_may_be_refused else f"the event is refused: {told['event_refused']}"
    missing = INNOCENT.keys() - set(told["found"])
    if missing:
        return f"without an answer: {', '.join(sorted(missing))}"
    given_up, found = "hostile" in told["over_budget"], "hostile" in told["found"]
    if set(told["over_budget"]) - {"hostile"}:
        return f"given up as well: {told['over_budget']}"
    if given_up and found:
        return "given up, and answered"
    if way in attack.gives_up and not given_up and told["refused"] is None:
        return f"not given up, {'answered' if found else 'not answered either'}"
    return None
