import urllib.request

import pytest

from ontosub.model.errors import UsageError
from ontosub.pipeline.batches import Done
from ontosub.pipeline.metrics import Metrics
from ontosub.pipeline.progress import Progress, lag_of
from ontosub.pipeline.staging import Outcome


def done(batch: int, payloads: int, matches: int, rejects: int = 0) -> Done:
    return Done(batch, Outcome((), (), payloads, matches, rejects), 0.25)


def test_rates_look_at_the_last_seconds():
    now = 0.0
    progress = Progress(lambda: now)
    for second in range(1, 31):
        now = float(second)
        progress.add(done(second, 100 if second <= 15 else 10, 1))
    told = progress.now(lag=7)
    assert (told.batches, told.payloads, told.matches) == (30, 15 * 100 + 15 * 10, 30)
    assert told.payloads_per_s == pytest.approx(10)
    assert told.line().startswith("1,650 events (10/s) · 30 matches (1/s) · 0 rejects · batch 30: 0.25 s · lag 7")


def test_overruns_are_counted_by_composite():
    metrics, progress = Metrics("offers"), Progress(lambda: 0.0)
    for overruns in ({"fire": 2, "drop": 1}, {}, {"fire": 3}):
        outcome = Outcome((), (), 1, 1, 0, overruns=overruns)
        metrics.add(Done(1, outcome, 0.25))
        progress.add(Done(1, outcome, 0.25))
    for name, count in (("fire", 5), ("drop", 1)):
        labels = {"pipeline": "offers", "composite": name}
        assert metrics.registry.get_sample_value("ontosub_overruns_total", labels) == count
    assert "0 rejects · 6 overruns of composites · batch 3" in progress.now().line()


def test_nothing_yet():
    assert Progress().now().line() == "0 events (0/s) · 0 matches (0/s) · 0 rejects · batch 0: 0.00 s"


@pytest.mark.parametrize(
    ("source", "lag"),
    [
        ({"latestOffset": {"log": "x", "event": 12}, "endOffset": {"log": "x", "event": 5}}, 7),
        ({"latestOffset": '{"log": "x", "event": 12}', "endOffset": '{"log": "x", "event": 12}'}, 0),
        ({"metrics": {"totalOffsetsBehindLatest": "4.0"}}, 4),
        ({"latestOffset": None, "endOffset": {"logOffset": 3}}, None),
        ({"latestOffset": "?", "endOffset": 3}, None),
    ],
)
def test_lag(source, lag):
    assert lag_of({"sources": [source]}) == lag


def test_no_lag_before_the_first_batch():
    assert lag_of(None) is None


def test_metrics_are_served():
    metrics = Metrics("offers")
    port = metrics.serve(0)
    metrics.add(done(1, 5, 12, 2))
    metrics.lag(3)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        text = answer.read().decode()
    for line in (
        'ontosub_events_total{pipeline="offers"} 5.0',
        'ontosub_matches_total{pipeline="offers"} 12.0',
        'ontosub_rejects_total{pipeline="offers"} 2.0',
        'ontosub_lag_events{pipeline="offers"} 3.0',
        'ontosub_batch_seconds_count{pipeline="offers"} 1.0',
    ):
        assert line in text
    assert "ontosub_overruns_total{" not in text
    with pytest.raises(UsageError, match=f"metrics port {port}"):
        Metrics("other").serve(port)
