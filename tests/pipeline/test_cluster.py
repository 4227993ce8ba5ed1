"""A pipeline, and the stage alone, on a cluster whose workers are killed: the answers are those of one machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from pipeline.pipelines import DEADLINE_S, Pipeline, expected
from pipeline.processes import in_session

pytest_plugins = ["servers.spark_cluster"]
pytestmark = [pytest.mark.xdist_group("processes"), pytest.mark.timeout(1200)]

full = [pytest.mark.full, pytest.mark.timeout(7200)]


@pytest.fixture
def workers(cluster):
    """Return two workers; those that a test leaves are killed after it."""
    found = [cluster.add_worker(), cluster.add_worker()]
    yield found
    for worker in found:
        cluster.kill(worker)


@pytest.mark.parametrize(
    ("count", "batches", "kills"),
    # Slow proofs, all of them: that a pipeline survives a kill is tried without a cluster as well (test_crashes.py).
    [pytest.param(*case, marks=full) for case in ((1_200, 8, 1), (4_000, 20, 2), (40_000, 20, 10))],
)
def test_a_pipeline_whose_workers_are_killed(tmp_path, cluster, workers, count, batches, kills):
    """It goes on with the one that is left, and with one that comes later."""
    random = Random(count)
    settings = {"spark.executor.memory": "512m"}
    pipeline = Pipeline(tmp_path, max_events=count // batches, options={"master": cluster.address}, spark=settings)
    pipeline.publish(count)
    with pipeline.running() as run:
        run.until(lambda: cluster.cores() == 2)
        for number in range(kills):
            pipeline.reach(run, (2 * number + 1) / (2 * kills + 1))
            cluster.kill(workers.pop(random.randrange(2)))
            pipeline.reach(run, (2 * number + 2) / (2 * kills + 1))
            workers.append(cluster.add_worker())
            run.until(lambda: cluster.cores() == 2)
        pipeline.reach(run, 1)
        run.end()
    pipeline.check()


@pytest.mark.full
@pytest.mark.timeout(7200)
def test_a_pipeline_whose_executors_are_killed(tmp_path, cluster, workers):
    """The workers start new ones."""
    random = Random(1)
    settings = {"spark.executor.memory": "512m"}
    pipeline = Pipeline(tmp_path, max_events=500, options={"master": cluster.address}, spark=settings)
    pipeline.publish(20_000)
    with pipeline.running() as run:
        for number in range(8):
            pipeline.reach(run, number / 9)
            run.until(lambda: len(executors(workers)) == 2)
            random.choice(executors(workers)).kill()
        pipeline.reach(run, 1)
        run.end()
    pipeline.check()


def executors(workers: list[int]):
    return [each for worker in workers for each in in_session(worker) if "ExecutorBackend" in each.command]


@pytest.mark.full
def test_the_stage(tmp_path, workers, cluster):
    program = [sys.executable, Path(__file__).with_name("matching_on.py"), cluster.address, tmp_path, "2000"]
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        program, env={**os.environ, "PYTHONPATH": str(tests)}, capture_output=True, text=True, timeout=2 * DEADLINE_S
    )
    assert done.returncode == 0, done.stderr
    batch, stream = (json.loads(line) for line in done.stdout.splitlines())
    for found in (batch, stream):
        assert len(found) == len(expected(2_000))
        assert {tuple(pair) for pair in found} == expected(2_000)
