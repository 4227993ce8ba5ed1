"""Pipelines in this process: what they deliver, how they stop, what they wait for."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

from ontosub import Matcher, Ontology, Subscription
from ontosub.model.errors import Unavailable, UsageError
from ontosub.pipeline import delivering
from ontosub.pipeline.backtest import backtest
from ontosub.pipeline.config import Config
from ontosub.pipeline.running import PipelineError, Running
from unit.pipeline.runs import Kept, Run, until

pytestmark = pytest.mark.xdist_group("spark")


def expected(numbers, *names: str) -> set[tuple[str, str]]:
    wanted = names or ("all", "cheap")
    return {(name, f"e{n}") for name in wanted for n in numbers if name == "all" or n < 400}


class TestRuns:
    def test_everything_once_in_batches_of_limited_size(self, spark, plan, log, offer):
        log.append([offer(number) for number in range(390, 410)])
        log.append([{"event_id": "bad", "content_type": "text/turtle", "payload": b"<urn:x> "}])
        sink = Kept()
        run = Run(plan(sink), spark)
        run.run(once=True)
        assert sink.found() == expected(range(390, 410))
        assert [each.outcome.payloads for each in run.done] == [7, 7, 7]
        (letters,) = [rows for (_, names), rows in sink.rows.items() if "reason" in names]
        assert [(row["event_id"], row["payload"], row["line"]) for row in letters] == [("bad", b"<urn:x> ", 1)]
        assert not sink.is_open

    def test_goes_on_where_it_was(self, spark, plan, log, offer):
        sink = Kept()
        log.append([offer(number) for number in range(10)])
        Run(plan(sink), spark).run(once=True)
        log.append([offer(number) for number in range(10, 20)])
        run = Run(plan(sink), spark)
        run.run(once=True)
        assert sum(each.outcome.payloads for each in run.done) == 10
        assert sink.found() == expected(range(20))

    def test_without_bindings(self, spark, plan, log, offer):
        log.append([offer(1)])
        sink = Kept()
        Run(plan(sink, bindings=False), spark).run(once=True)
        ((_, rows),) = sink.rows.items()
        assert [row["bindings"] for row in rows] == [[], []]

    def test_a_batch_that_is_repeated_is_the_same_batch(self, spark, plan, log, offer, folder):
        """It was staged, and not delivered: it is not matched again, even if subscriptions have changed since."""
        log.append([offer(1)])
        sink = Kept()
        sink.failures = [RuntimeError("crash")]
        with pytest.raises(PipelineError, match="crash"):
            Run(plan(sink), spark).run(once=True)
        (folder / "rules" / "all.rq").unlink()
        Run(plan(sink), spark).run(once=True)
        assert sink.found() == expected([1])
        log.append([offer(2)])
        Run(plan(sink), spark).run(once=True)
        assert sink.found() == expected([1]) | expected([2], "cheap")


class TestLiveSubscriptions:
    def test_files_that_come_and_go(self, spark, plan, log, offer, folder):
        sink = Kept()
        with Run(plan(sink), spark).in_background() as run:
            log.append([offer(1)])
            until(lambda: sink.found() >= expected([1]))
            (folder / "rules" / "late.rq").write_text((folder / "rules" / "all.rq").read_text())
            (folder / "rules" / "all.rq").unlink()
            log.append([offer(2)])
            until(lambda: len(run.done) == 2)
        assert run.failure is None
        assert sink.found() == expected([1]) | {("late", "e2"), ("cheap", "e2")}

    def test_an_index_that_is_saved_again(self, spark, plan, log, offer, folder):
        matcher = Matcher(Ontology.read(folder / "ontology.ttl"), "compiled")
        matcher.subscribe(Subscription.parse((folder / "rules" / "all.rq").read_text(), id="all"))
        matcher.save(folder / "saved")
        sink = Kept()
        with Run(plan(sink, subscriptions=(), index=str(folder / "saved")), spark).in_background() as run:
            log.append([offer(1)])
            until(lambda: sink.found() == expected([1], "all"))
            matcher.subscribe(Subscription.parse((folder / "rules" / "cheap.rq").read_text(), id="cheap"))
            matcher.unsubscribe("all")
            matcher.save(folder / "saved")
            log.append([offer(2)])
            until(lambda: len(run.done) == 2)
        assert run.failure is None
        assert sink.found() == expected([1], "all") | expected([2], "cheap")


class TestStopping:
    def test_after_the_batch_at_hand(self, spark, plan, log, offer):
        log.append([offer(number) for number in range(7)])
        sink = Kept()
        with Run(plan(sink), spark).in_background() as run:
            until(sink.tried.is_set)
        assert run.failure is None
        assert sink.found() == expected(range(7))
        again = Run(plan(sink), spark)
        again.run(once=True)
        assert again.done == []

    def test_while_it_waits(self, spark, plan, log, offer):
        log.append([offer(1)])
        sink = Kept()
        sink.failures = [Unavailable("the database is down")] * 10_000
        with Run(plan(sink), spark).in_background() as run:
            until(sink.tried.is_set)
        assert run.failure is None
        assert run.done == []
        sink.failures = []
        Run(plan(sink), spark).run(once=True)
        assert sink.found() == expected([1])


class TestFaults:
    def test_waits_for_a_sink(self, spark, plan, log, offer, monkeypatch):
        monkeypatch.setattr(delivering, "FIRST_WAIT_S", 0.01)
        log.append([offer(1)])
        sink = Kept()
        sink.failures = [Unavailable("the database is down")] * 3
        run = Run(plan(sink), spark)
        run.run(once=True)
        assert sink.found() == expected([1])
        assert len(run.said) == 3
        assert "waits: the database is down" in run.said[0]

    def test_two_runs_cannot_share_a_state(self, spark, plan, log, offer):
        sink = Kept()
        with Run(plan(sink), spark).in_background():
            log.append([offer(1)])
            until(sink.tried.is_set)
            with pytest.raises(UsageError, match="in use"):
                Run(plan(Kept()), spark).run()

    def test_a_state_of_another_pipeline(self, spark, plan, log):
        Run(plan(Kept()), spark).run(once=True)
        with pytest.raises(UsageError, match="another pipeline"):
            Run(plan(Kept(), name="other"), spark).run(once=True)

    def test_a_subscription_that_breaks_meanwhile_is_told(self, spark, plan, log, offer, folder):
        sink = Kept()
        with Run(plan(sink), spark).in_background() as run:
            log.append([offer(1)])
            until(lambda: len(run.done) == 1)
            (folder / "rules" / "new.rq").write_text("SELECT ?x {")
            log.append([offer(2)])
            until(lambda: len(run.done) == 2)
        assert sink.found() == expected([1, 2])
        assert len(run.said) == 1
        assert "new.rq" in run.said[0]


def test_backtest(spark, plan, log, offer, folder, tmp_path):
    log.append([offer(number) for number in range(395, 405)])
    (folder / "rules" / "never.rq").write_text("SELECT ?x { ?x <urn:none> ?y }")
    found = backtest(plan(Kept()), spark, tmp_path / "work", samples=2, say=lambda told: None)
    assert {each.subscription_id: each.events for each in found.fired} == {"all": 10, "cheap": 5, "never": 0}
    (cheap,) = [each for each in found.fired if each.subscription_id == "cheap"]
    assert len(cheap.samples) == 2
    assert cheap.samples[0]["event"] == "e395"
    assert cheap.samples[0]["bindings"] == [{"x": "<urn:n395>"}]
    assert not (folder / "state").exists()
    assert found.outcome.payloads == 10


def test_the_sinks_of_a_configuration(spark, folder, log, offer, monkeypatch):
    monkeypatch.chdir(folder)
    log.append([offer(1), {"event_id": "bad", "content_type": "text/turtle", "payload": b"<urn:x> "}])
    config = Config(
        "offers",
        {"kind": "log", "directory": "log"},
        "state",
        ontology="ontology.ttl",
        subscriptions="rules",
        sinks=[{"kind": "parquet", "path": "out"}, {"kind": "sql", "url": "sqlite:///n.db"}],
    )
    Running(config.plan(), spark, say=lambda told: None, on_done=lambda done: None).run(once=True)
    files = list((folder / "out").rglob("*.parquet"))
    rows = [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
    assert {(row["subscription_id"], row["event_id"]) for row in rows} == expected([1])
    kept = (folder / "state" / "dead_letters").rglob("*.json*")
    letters = [json.loads(line) for file in kept for line in file.read_text().splitlines()]
    assert [letter["event_id"] for letter in letters] == ["bad"]
