"""Pipelines that detect composite events: they deliver what a detector finds among all matches, each once."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from amounts import at_most
from ontosub import CompositeMatcher, Event, Ontology, Subscription
from ontosub.inputs.definitions import read_subscriptions
from ontosub.languages.composite import parse_all
from ontosub.model.errors import UsageError
from ontosub.pipeline.backtest import backtest
from ontosub.pipeline.composing import Composing, Operands, Timing
from ontosub.pipeline.running import PipelineError
from ontosub.pipeline.staging import Staging
from oracle.composite_definition import Fact
from spark_streams import table_of
from unit.pipeline.runs import Kept, Run, until

pytestmark = pytest.mark.xdist_group("spark")

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
DEAR = "PREFIX : <urn:> ASK { ?x a :Computer ; :price ?p FILTER(?p >= 400) }"
DROP = "dear before cheap within 1 min"
ROUND = "dear before sparql { SELECT ?r { ?r <urn:price> ?p FILTER(?p = 300 || ?p = 310) } } within 1 h"
SUMS = """
all(?p) and sparql { SELECT ?q { ?x <urn:price> ?q FILTER(?q >= 400) } }
and sparql { SELECT ?r { ?x <urn:price> ?r FILTER(?r = 300) } }
where ?p + ?q = 10000
"""


@pytest.fixture
def rules(folder: Path) -> Path:
    (folder / "rules" / "dear.rq").write_text(DEAR)
    (folder / "rules" / "drop.composite").write_text(DROP)
    return folder / "rules"


@pytest.fixture
def sold(offer):
    """Return what makes the event of a price at a second."""

    def made(price: int, second: int) -> dict[str, object]:
        moment = BEGIN + timedelta(seconds=second)
        return {**offer(price), "event_id": f"e{second}", "time_start": moment, "time_end": moment}

    return made


def composed(folder: Path, sales: Iterable[dict], *, all_of_it: bool = False) -> set[tuple[str, str]]:
    """Return what is detected in this process, up to the last event, which may be one of several, or to the end."""
    matcher = CompositeMatcher(Ontology.read(folder / "ontology.ttl"), lateness=timedelta(days=1))
    read = read_subscriptions([folder / "rules"])
    for each in [*read.subscriptions.values(), *read.composites.values()]:
        matcher.subscribe(each)
    for sale in sales:
        matcher.publish(Event.read(sale["payload"], "turtle", id=sale["event_id"], time=sale["time_start"]))
    last = max(sale["time_end"] for sale in sales)
    found = matcher.advance(last + timedelta(days=1) if all_of_it else last - timedelta(microseconds=1))
    return {(each.subscription_id, each.key) for each in found}


def run_once(plan, spark) -> Run:
    run = Run(plan, spark)
    run.run(once=True)
    return run


PRICES = [500, 300, 450, 310, 600, 700, 200, 300, 800, 300, 999, 310, 400, 399]


class TestRuns:
    def test_what_a_detector_finds(self, spark, plan, log, sold, folder, rules):
        (rules / "round.composite").write_text(ROUND)
        (rules / "twice.composite").write_text("drop before dear within 1 min")
        (rules / "again.composite").write_text("cheap before cheap within 1 min")  # the same ?x
        sales = [sold(price, second) for second, price in enumerate(PRICES * at_most(3, quick=2))]
        log.append(sales)
        sink = Kept()
        run = run_once(plan(sink), spark)
        assert sink.detected() == composed(folder, sales)
        assert {name for name, _ in sink.detected()} == {"again", "drop", "round", "twice"}
        assert {name for name, _ in sink.found()} == {"all", "cheap", "dear"}  # what stands inside is not told
        assert sum(each.outcome.detections for each in run.done) == len(sink.detected())
        assert sum(each.outcome.matches for each in run.done) == len(sink.found())

    def test_goes_on_where_it_was(self, spark, plan, log, sold, folder, rules):
        sales = [sold(price, second) for second, price in enumerate(PRICES * 2)]
        sink = Kept()
        for start in range(0, len(sales), 10):
            log.append(sales[start : start + 10])
            run_once(plan(sink), spark)
        assert sink.detected() == composed(folder, sales)

    def test_a_batch_that_was_not_delivered(self, spark, plan, log, sold, folder, rules):
        sales = [sold(price, second) for second, price in enumerate(PRICES * at_most(2, quick=1))]
        log.append(sales)
        sink = Kept()
        for _ in range(at_most(3, quick=2)):
            sink.failures = [RuntimeError("crash")]
            with pytest.raises(PipelineError, match="crash"):
                run_once(plan(sink), spark)
        run_once(plan(sink), spark)
        assert sink.detected() == composed(folder, sales)

    def test_in_shards(self, spark, plan, log, sold, folder, rules):
        (rules / "round.composite").write_text(ROUND)
        sales = [sold(price, second) for second, price in enumerate(PRICES)]
        log.append(sales)
        sink = Kept()
        run_once(plan(sink, shards=2), spark)
        assert sink.detected() == composed(folder, sales)

    def test_late_and_without_time(self, spark, plan, log, sold, offer, folder, rules):
        in_time = [sold(500, 100), sold(300, 101), sold(999, 120)]
        sink = Kept()
        log.append(in_time)
        run_once(plan(sink, lateness="30 s"), spark)
        log.append([sold(500, 89), sold(350, 91), sold(350, 91), {**offer(300), "event_id": "u"}, sold(999, 200)])
        run = run_once(plan(sink, lateness="30 s"), spark)
        # Of the first, both "all" and "dear" match, but only the latter is part of a composite.
        assert [(each.outcome.late, each.outcome.untimed) for each in run.done] == [(1, 1)]
        assert sink.detected() == composed(folder, [*in_time, sold(350, 91), sold(999, 200)])

    def test_another_lateness_does_not_change_what_was(self, spark, plan, log, sold, folder, rules):
        """What had been decided stays decided, and what had not been is told."""
        sink, sales = Kept(), [sold(price, second) for second, price in enumerate(PRICES * 2)]
        for part, lateness in ((sales[:14], "10 s"), (sales[14:], "0 s")):
            log.append(part)
            run_once(plan(sink, lateness=lateness), spark)
        assert sink.detected() == composed(folder, sales)

    def test_how_long_a_match_lives(self, spark, plan, log, sold, rules):
        log.append([sold(500, 0), sold(300, 20), sold(500, 100), sold(300, 105), sold(999, 200)])
        sink = Kept()
        run_once(plan(sink, lifetime="10 s"), spark)
        assert len(sink.detected()) == 1

    def test_what_was_not_tried_is_said(self, spark, plan, log, sold, folder, rules):
        """None of 160,000 combinations holds, and not all of them are tried. Each batch says what was new in it."""
        (rules / "sums.composite").write_text(SUMS)
        sink, options = Kept(), {"source": {"kind": "log", "directory": str(folder / "log"), "max_events": 1000}}
        said, counted = [], []
        for sales in ([sold(price, price) for price in range(400, 800)], [sold(300, 900), sold(999, 901)]):
            log.append(sales)
            run = run_once(plan(sink, **options), spark)
            said += run.said
            counted += [each.outcome.overruns for each in run.done]
        assert counted == [{}, {"sums": 1}]
        [warning] = said
        assert warning.startswith("the composite sums may lack detections: for 1 instance, not all combinations")
        assert Staging(folder / "state" / "staging").outcome(1).overruns == {"sums": 1}


class TestLive:
    def test_composites_come_and_go(self, spark, plan, log, sold, rules):
        (rules / "drop.composite").unlink()
        sink = Kept()
        with Run(plan(sink), spark).in_background() as run:
            log.append([sold(500, 0), sold(300, 1), sold(999, 2)])
            until(lambda: len(run.done) == 1)
            (rules / "drop.composite").write_text(DROP)  # sees what comes from now on
            log.append([sold(300, 3), sold(500, 4), sold(300, 5), sold(999, 6)])
            until(lambda: len(run.done) == 2)
            assert [row["event_ids"] for row in _detections(sink)] == [["e4", "e5"]]
            (rules / "drop.composite").unlink()
            log.append([sold(300, 7), sold(999, 8)])
            until(lambda: len(run.done) == 3)
        assert run.failure is None
        assert run.said == []
        assert len(sink.detected()) == 1

    def test_one_that_breaks_stays_as_it_was(self, spark, plan, log, sold, rules):
        sink = Kept()
        with Run(plan(sink), spark).in_background() as run:
            log.append([sold(500, 0)])
            until(lambda: len(run.done) == 1)
            (rules / "drop.composite").write_text("dear before nothing within 1 min")
            log.append([sold(300, 1), sold(999, 2)])
            until(lambda: len(run.done) == 2)
        assert [row["event_ids"] for row in _detections(sink)] == [["e0", "e1"]]
        (said,) = run.said
        assert "drop.composite, line 1, column 13" in said
        assert 'there is no subscription "nothing"' in said


class TestFaults:
    def test_composites_take_bindings(self, spark, plan, log, rules):
        run = Run(plan(Kept(), bindings=False), spark)
        with pytest.raises(UsageError, match="cannot be used"):
            run.run(once=True)
        assert "bindings = false" in run.said[0]

    def test_durations(self, plan):
        with pytest.raises(UsageError, match="lateness: "):
            plan(Kept(), lateness="soon")
        with pytest.raises(UsageError, match="lifetime: "):
            plan(Kept(), lifetime="-3 s")


class TestStored:
    @pytest.fixture
    def composites(self, rules):
        return read_subscriptions([rules]).composites

    def test_only_what_is_needed_is_there(self, tmp_path, composites):
        """After some batches what is held is stored, and the matches before are gone when the next one comes."""
        composing = Composing(tmp_path / "kept", Timing())
        for batch in range(102):
            composing.compose(batch, composites, [], batch)
        assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["100.json", "101.arrow"]

    def test_nothing_is_stored_without_composites(self, tmp_path, composites):
        composing = Composing(tmp_path / "kept", Timing())
        composing.compose(0, {}, [], 0)
        assert not (tmp_path / "kept").exists()
        composing.compose(1, composites, [], 1)
        for batch in range(2, 5):
            composing.compose(batch, {}, [], batch)
        assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["2.json"]

    @pytest.mark.parametrize("name", ["0.json", "1.arrow"])
    @pytest.mark.parametrize("text", ["{", "[]", "{}", '{"version": 0, "state": {}}'])
    def test_cannot_be_read(self, tmp_path, composites, name, text):
        composing = Composing(tmp_path / "kept", Timing())
        for batch in range(2):
            composing.compose(batch, composites, [], batch)
        (tmp_path / "kept" / name).write_text(text)
        with pytest.raises(UsageError, match=rf"state: .*{name}: (cannot be read|made by another version)"):
            Composing(tmp_path / "kept", Timing()).compose(2, composites, [], 2)

    def test_a_state_that_cannot_be_read_is_told_before_anything_runs(self, tmp_path, composites):
        Composing(tmp_path / "kept", Timing()).compose(0, composites, [], 0)
        (tmp_path / "kept" / "0.json").write_text("{")
        with pytest.raises(UsageError, match=r"0\.json: cannot be read"):
            Composing(tmp_path / "kept", Timing())

    def test_what_a_crash_has_left_half_written(self, tmp_path, composites):
        Composing(tmp_path / "kept", Timing()).compose(0, composites, [], 0)
        (tmp_path / "kept" / "1.json.partial").write_text("{")
        (tmp_path / "kept" / ".nfs0001").write_text("")  # of a file system, and none of ours
        Composing(tmp_path / "kept", Timing()).compose(1, composites, [], 1)
        assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == [".nfs0001", "0.json", "1.arrow"]

    def test_a_lifetime_holds_from_the_batch_on_that_it_came_with(self, tmp_path):
        texts, ids = {"both": "a and b"}, ("a", "b")
        composites = parse_all(texts, names={name: Subscription.parse("ASK {}", id=name) for name in ids})
        found = []
        for batch, (name, moment) in enumerate([("x", 1), ("a", 100), ("b", 120), ("a", 125), ("x", 500)]):
            file = tmp_path / "matches.parquet"
            pq.write_table(table_of([Fact(name, f"e{moment}", moment, moment, ((),), None)]), file)
            timing = Timing(lifetime=None if batch == 0 else timedelta(microseconds=10))
            composed = Composing(tmp_path / "kept", timing).compose(batch, composites, [file], moment)
            found += [each.event_ids for each in composed.detections]
        assert found == [("e125", "e120")]

    def test_what_stands_inside_is_told_to_nobody(self, rules):
        (rules / "round.composite").write_text(ROUND)
        operands = Operands.of(read_subscriptions([rules]).composites)
        (inside,) = operands.inside
        assert operands.all == {"dear", "cheap", inside}


def test_backtest(spark, plan, log, sold, folder, rules, tmp_path):
    (rules / "round.composite").write_text(ROUND)
    (rules / "never.composite").write_text("cheap before dear within 1 ms")
    (rules / "quiet.composite").write_text("not cheap within 10 s")
    sales = [sold(price, second * 8) for second, price in enumerate(PRICES)]
    log.append(sales)
    found = backtest(plan(Kept()), spark, tmp_path / "work", samples=1, say=lambda told: None)
    fired = {each.subscription_id: each for each in found.fired}
    assert fired.keys() == {"all", "cheap", "dear", "drop", "round", "never", "quiet"}
    wanted = composed(folder, sales, all_of_it=True)
    assert {each.events for each in fired.values() if each.subscription_id == "never"} == {0}
    for name in ("drop", "round"):
        assert fired[name].events == sum(each == name for each, _ in wanted) > 0
    assert fired["drop"].samples[0]["events"] == ["e0", "e8"]
    assert not (folder / "state").exists()


def _detections(sink: Kept) -> list[dict[str, object]]:
    return [row for (_, names), rows in sink.rows.items() if "detection_id" in names for row in rows]
