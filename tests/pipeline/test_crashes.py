"""A pipeline that is killed at random points, whole or in part: its log holds exactly what it would hold anyway."""

from __future__ import annotations

import signal
from random import Random

import pytest

from pipeline.pipelines import Pipeline, Run, expected
from pipeline.processes import Process

pytestmark = [pytest.mark.xdist_group("processes"), pytest.mark.timeout(900)]

full = [pytest.mark.full, pytest.mark.timeout(7200)]


def reach(run: Run, pipeline: Pipeline, point: int, random: Random) -> None:
    """Wait until so many are notified, and then some looks more: a batch may be anywhere."""
    looks = random.randrange(20)

    def reached() -> bool:
        nonlocal looks
        looks -= pipeline.count() >= point
        return looks < 0

    run.until(reached)


def task_workers(run: Run) -> list[Process]:
    """Return those that work on tasks, once there are any: who was killed is replaced when the next task starts."""
    workers: list[Process] = []

    def there() -> bool:
        workers[:] = [each for each in run.members() if each.is_task_worker]
        return bool(workers)

    run.until(there)
    return workers


def points(count: int, kills: int, random: Random) -> list[int]:
    return sorted(random.randrange(len(expected(count))) for _ in range(kills))


@pytest.mark.parametrize(
    ("count", "batches", "kills"),
    [(1_200, 8, 1), pytest.param(4_000, 40, 2, marks=full), pytest.param(50_000, 40, 10, marks=full)],
)
def test_killed_at_random_points(tmp_path, count, batches, kills):
    random = Random(count)
    pipeline = Pipeline(tmp_path, max_events=count // batches)
    pipeline.publish(count)
    for point in points(count, kills, random):
        with pipeline.running() as run:
            reach(run, pipeline, point, random)
    pipeline.run_once()
    pipeline.check()


@pytest.mark.parametrize("rounds", [pytest.param(1, marks=full), pytest.param(8, marks=full)])
def test_one_half_of_the_driver_is_killed(tmp_path, rounds):
    """Spark's JVM alone, and then Python alone, and it is started again before the JVM may have noticed."""
    random = Random(rounds)
    pipeline = Pipeline(tmp_path, max_events=50, source="files")
    for number in range(rounds):
        before, count = len(expected(2_000 * number)), 2_000 * (number + 1)
        pipeline.publish(count)
        first, second = sorted(random.sample(range(before, len(expected(count))), 2))
        with pipeline.running() as run:
            reach(run, pipeline, first, random)
            (java,) = [each for each in run.members() if each.is_java]
            java.kill()
            assert run.ended() == 1
            assert "error: Spark's JVM has ended" in run.said()
            run.gone()
        with pipeline.running() as run:
            reach(run, pipeline, second, random)
            run.signal(signal.SIGKILL)
            with pipeline.running("--once") as again:
                run.gone()
                assert again.ended() == 0, again.said()
        pipeline.check()


@pytest.mark.parametrize(("count", "kills"), [pytest.param(2_000, 3, marks=full), pytest.param(20_000, 20, marks=full)])
def test_a_worker_that_dies_costs_its_task(tmp_path, count, kills):
    random = Random(count)
    pipeline = Pipeline(tmp_path, max_events=count // 40, source="files")
    pipeline.publish(count)
    with pipeline.running() as run:
        for point in points(count, kills, random):
            reach(run, pipeline, point, random)
            random.choice(task_workers(run)).kill()
        run.until(lambda: pipeline.count() == len(expected(count)))
        run.signal(signal.SIGTERM)
        assert run.ended() == 0, run.said()
    pipeline.check()


@pytest.mark.parametrize(("count", "kills"), [pytest.param(20_000, 12, marks=full)])
def test_any_helper_dies(tmp_path, count, kills):
    """Also one that a source in Python needs: then the pipeline ends, says why, and can be started again."""
    random = Random(count)
    pipeline = Pipeline(tmp_path, max_events=count // 40)
    pipeline.publish(count)
    ends = points(count, kills, random)
    while ends:
        with pipeline.running() as run:
            while ends and run.runs():
                point = ends.pop(0)
                run.until(lambda point=point: pipeline.count() >= point or not run.runs())
                helpers = [each for each in run.members() if "pyspark." in each.command]
                if helpers:
                    random.choice(helpers).kill()
    pipeline.run_once()
    pipeline.check()
