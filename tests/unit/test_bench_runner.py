"""The runner: answers first, then times; and what is shown of them."""

import csv
import io
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from ontosub.bench import Conditions, Disagreement, Measurement, Outcome, run
from ontosub.bench.engines import ENGINES, Engine
from ontosub.bench.engines.ours import Ours
from ontosub.bench.machine import Machine
from ontosub.bench.plot import check_plot, plot
from ontosub.bench.ratios import Ratio, ratios
from ontosub.bench.reference import Reference
from ontosub.bench.report import remarks, table, write_csv
from ontosub.bench.runner import LeftOut
from ontosub.bench.timing import time_each
from ontosub.bench.workload import Workload
from ontosub.bench.workloads import templates
from ontosub.cli.bench import command, parse_size
from ontosub.model import Event, Ontology, Subscription
from ontosub.model.errors import UsageError

QUICK = Conditions(budget_s=0.0)


@pytest.fixture(scope="module")
def workload() -> Workload:
    return templates.generate(90, 3, 1)


class Naive(Ours):
    """The naive algorithm under another name."""

    def __init__(self, name: str = "naive") -> None:
        super().__init__("naive", name)


class Forgetful(Naive):
    """Overlooks one match of one event."""

    def match(self, decoded: Event) -> set[str]:
        found = super().match(decoded)
        return found - {min(found)} if decoded.id == "e1" else found


class Inventive(Naive):
    """Reports one match too many."""

    def match(self, decoded: Event) -> set[str]:
        found = super().match(decoded)
        return found | {next(f"s{number}" for number in range(90) if f"s{number}" not in found)}


class Miscounting(Naive):
    """Finds the right subscriptions with half of their answers."""

    def bindings(self, decoded: Event):
        return {name: [] for name in super().bindings(decoded)}


class Counting(Naive):
    """Counts its events."""

    def __init__(self) -> None:
        super().__init__("counting")
        self.events = 0

    def match(self, decoded: Event) -> set[str]:
        self.events += 1
        return super().match(decoded)

    def counters(self) -> dict[str, float]:
        return {"visits": 10 * self.events, "index_bytes": 4096}


class Absent(Naive):
    requires = "a_module_that_nobody_has"


class Picky(Naive):
    def prepare(self, subscriptions: Sequence[Subscription], ontology: Ontology) -> None:
        raise UsageError("these subscriptions are not to its taste")


class TestRun:
    def test_measures_every_engine(self, workload: Workload):
        told: list[str] = []
        outcome = run(workload, [Naive("one"), Naive("other")], QUICK, told.append)
        assert [each.engine for each in outcome.measurements] == ["one", "other"]
        assert told == ["templates 90: one", "templates 90: other"]
        first = outcome.measurements[0]
        assert first.subscriptions == 90
        assert first.events == 1
        assert first.matches == outcome.measurements[1].matches > 0
        assert first.match_ms > 0
        assert first.bindings_ms is None

    def test_bindings_are_timed_when_asked_for(self, workload: Workload):
        (measured,) = run(workload, [Naive()], Conditions(0.0, bindings=True)).measurements
        assert measured.bindings_ms is not None

    @pytest.mark.parametrize("liar", [Forgetful, Inventive])
    def test_a_wrong_answer_is_an_error_that_names_all(self, workload: Workload, liar: type[Naive]):
        with pytest.raises(Disagreement) as caught:
            run(workload, [Naive(), liar("liar")], QUICK)
        error = caught.value
        assert error.engine == "liar"
        said, true = ("does not match", "matches") if liar is Forgetful else ("matches", "does not match")
        assert f"event {error.event_id}, subscription {error.subscription_id}: liar says it {said}" in str(error)
        assert str(error).endswith(f"the reference it {true}")
        assert "seed 1" in str(error)

    def test_a_wrong_answer_ends_the_run_before_anything_is_timed(self, workload: Workload):
        calls = 0

        class Watched(Inventive):
            def match(self, decoded: Event) -> set[str]:
                nonlocal calls
                calls += 1
                return super().match(decoded)

        with pytest.raises(Disagreement):
            run(workload, [Watched()], QUICK)
        assert calls == len(workload.events)

    def test_what_a_later_engine_finds_is_held_against_an_earlier_one(self, workload: Workload, monkeypatch):
        """A miss outside the sample cannot hide when another engine has found the match."""
        monkeypatch.setattr("ontosub.bench.reference.WORK", 0)
        monkeypatch.setattr("ontosub.bench.reference.SAMPLE_MIN", 0)
        run(workload, [Forgetful("liar")], QUICK)
        with pytest.raises(Disagreement, match="liar says it does not match"):
            run(workload, [Forgetful("liar"), Naive()], QUICK)

    def test_wrong_bindings_are_an_error(self, workload: Workload):
        run(workload, [Miscounting()], QUICK)
        with pytest.raises(Disagreement, match="0 bindings"):
            run(workload, [Miscounting()], Conditions(0.0, bindings=True))

    def test_engines_that_cannot_run_are_left_out_with_a_reason(self, workload: Workload):
        outcome = run(workload, [Absent("absent"), Picky("picky"), Naive()], QUICK)
        assert [each.engine for each in outcome.measurements] == ["naive"]
        assert outcome.left_out == (
            LeftOut("absent", "a_module_that_nobody_has is not installed"),
            LeftOut("picky", "these subscriptions are not to its taste"),
        )

    def test_counters_are_for_one_event_and_sizes_are_sizes(self, workload: Workload):
        (measured,) = run(workload, [Counting()], QUICK).measurements
        assert measured.counters == {"visits": 10, "index_bytes": 4096}

    def test_the_sample_holds_matches_and_misses_alike(self, workload: Workload):
        reference = Reference(workload)
        truths = {reference.is_match(reference.events[0], each) for each in reference.sample}
        assert truths == {True, False}


class TestTiming:
    def test_a_budget_of_nothing_still_does_one_item(self):
        done: list[int] = []
        assert time_each(done.append, [1, 2, 3], budget_s=0.0).events == 1
        assert done == [1]

    def test_rounds_repeat_the_same_items(self):
        done: list[int] = []
        assert time_each(done.append, [1, 2, 3], budget_s=60.0).events == 3
        assert done == [1, 2, 3] * 3


def measured(engine: str, match_ms: float, subscriptions: int = 90, *, peer: bool = True, linear: bool = False):
    return Measurement(engine, peer, linear, subscriptions, 3, 0.1, match_ms, 2 * match_ms, None, 4.0)


class TestRatios:
    def test_are_relative_to_the_fastest_peer(self, workload: Workload):
        outcome = Outcome(workload, (measured("ours", 1, peer=False), measured("a", 10), measured("b", 40)), ())
        assert ratios(outcome) == {"ours": Ratio(10, False), "a": Ratio(1, False), "b": Ratio(0.25, False)}

    def test_only_linear_engines_are_extrapolated_and_marked(self, workload: Workload):
        loop, join = measured("loop", 5, 9, linear=True), measured("join", 5, 9)
        outcome = Outcome(workload, (measured("a", 10), loop, join), ())
        assert ratios(outcome) == {"a": Ratio(1, False), "loop": Ratio(0.2, True), "join": None}

    def test_a_peer_at_full_size_is_the_measure_before_an_extrapolated_one(self, workload: Workload):
        outcome = Outcome(workload, (measured("a", 10), measured("loop", 0.5, 9, linear=True)), ())
        assert ratios(outcome) == {"a": Ratio(1, False), "loop": Ratio(2, True)}

    def test_without_a_peer_nothing_is_said(self, workload: Workload):
        assert ratios(Outcome(workload, (measured("ours", 1, peer=False),), ())) == {"ours": None}


class TestReport:
    @pytest.fixture
    def outcome(self, workload: Workload) -> Outcome:
        loop = replace(measured("loop", 5, 9, linear=True), counters={"visits": 12.0})
        return Outcome(workload, (loop, measured("a", 10)), (LeftOut("gone", "it is not installed"),))

    def test_the_table_shows_what_was_run(self, outcome: Outcome):
        console = Console(width=140, file=io.StringIO())
        console.print(table(outcome))
        shown = console.file.getvalue()
        assert "9 of 90" in shown
        assert "≈0.2×" in shown
        assert "visits=12" in shown
        assert shown.index("│ a ") < shown.index("│ loop ")

    def test_the_remarks_say_what_a_reader_must_know(self, outcome: Outcome):
        said = "\n".join(remarks(outcome))
        assert "4.444% match an event" in said
        assert "timed with just these" in said
        assert "≈ marks ratios" in said
        assert "gone is left out: it is not installed." in said

    def test_a_ratio_that_cannot_be_told_is_explained(self, workload: Workload):
        outcome = Outcome(workload, (measured("join", 5, 9), measured("a", 10)), ())
        assert any(remark.startswith("– stands where") for remark in remarks(outcome))
        assert not any("≈" in remark for remark in remarks(outcome))

    def test_csv_has_a_line_for_each_engine_with_the_machine(self, outcome: Outcome):
        file = io.StringIO()
        machine = Machine.here()
        write_csv(file, [outcome], machine)
        rows = list(csv.DictReader(io.StringIO(file.getvalue())))
        assert [(row["engine"], row["subscriptions"], row["is_extrapolated"]) for row in rows] == [
            ("loop", "9", "True"),
            ("a", "90", "False"),
        ]
        assert {row["cpu"] for row in rows} == {machine.cpu}
        assert rows[0]["cores"] == str(machine.cores)
        assert f"pyoxigraph={machine.libraries['pyoxigraph']}" in rows[0]["libraries"]

    def test_a_picture_is_drawn(self, outcome: Outcome, tmp_path: Path):
        pytest.importorskip("matplotlib", reason="matplotlib is not installed")
        plot([outcome], tmp_path / "times.svg")
        drawn = (tmp_path / "times.svg").read_text()
        assert drawn.startswith("<?xml")
        assert "ms per event" in drawn

    def test_a_picture_that_could_not_be_drawn_is_refused_at_once(self, tmp_path: Path, monkeypatch):
        with pytest.raises(UsageError, match=r"\.png"):
            check_plot(tmp_path / "times.doc")
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        monkeypatch.setattr("ontosub.bench.plot.find_spec", lambda name: None)
        with pytest.raises(UsageError, match="matplotlib"):
            check_plot(tmp_path / "times.png")


@pytest.fixture
def invoke():
    app = typer.Typer()
    app.command()(command)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


class TestCommand:
    def test_runs_checks_and_shows(self, invoke, tmp_path: Path):
        figures = tmp_path / "times.csv"
        arguments = [
            "--workload",
            "templates",
            "--size",
            "60",
            "--size",
            "90",
            "--engine",
            "naive",
            "--engine",
            "oxigraph",
        ]
        result = invoke(*arguments, "--events", 2, "--seconds", 0, "--csv", figures)
        assert result.exit_code == 0, result.output
        assert "templates: 60 subscriptions" in result.stdout
        assert "templates: 90 subscriptions" in result.stdout
        assert "templates 60: oxigraph" in result.stderr
        rows = list(csv.DictReader(figures.read_text().splitlines()))
        assert [(row["size"], row["engine"]) for row in rows] == [
            (size, engine) for size in ("60", "90") for engine in ("naive", "oxigraph")
        ]
        assert rows[1]["times_as_fast"] == "1.0"

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["--workload", "nonsense"], "unknown workload 'nonsense'"),
            (["--engine", "nonsense"], "unknown engine 'nonsense'"),
            (["--size", "ten"], "'ten' is no size"),
            (["--plot", "times.doc"], ".png"),
        ],
    )
    def test_nonsense_is_refused_with_exit_code_2(self, invoke, arguments: list[str], said: str):
        result = invoke(*arguments)
        assert result.exit_code == 2
        assert said in result.stderr
        assert result.stdout == ""

    def test_a_disagreement_is_exit_code_2_and_no_table(self, invoke, monkeypatch):
        monkeypatch.setattr("ontosub.cli.bench.ENGINES", {"liar": lambda: Inventive("liar")})
        result = invoke("--workload", "templates", "--size", 90, "--events", 1, "--seconds", 0)
        assert result.exit_code == 2
        assert "liar and the reference disagree" in result.stderr
        assert "match ms" not in result.stdout

    @pytest.mark.parametrize("text", ["", "0", "k", "1K", "-5", "1.5k", "10kk"])
    def test_sizes_that_are_none(self, text: str):
        with pytest.raises(UsageError):
            parse_size(text)


def test_every_algorithm_and_every_peer_is_an_engine():
    assert {"naive", "oxigraph", "rdflib", "duckdb", "clips"} <= ENGINES.keys()
    assert all(isinstance(make(), Engine) for make in ENGINES.values())
    assert [name for name, make in ENGINES.items() if make().is_peer] == ["oxigraph", "rdflib", "duckdb", "clips"]
