"""Fixtures and hooks for all tests."""

from __future__ import annotations

import pytest

from amounts import hurry
from ontosub.matching.kernel_cache import KERNELS
from ontosub.model.errors import UsageError

FAST = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-Xss16m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""Settings for a Spark session that starts fast rather than runs fast."""


@pytest.fixture(scope="session")
def spark():
    """Return the one Spark session of all tests, with Kafka's connector if that can be had; they share a worker."""
    from ontosub.spark import session
    from servers.kafka_jars import connector_settings

    try:
        return session({**FAST, **connector_settings()}, master="local[1]")
    except UsageError as error:
        pytest.skip(str(error))


def pytest_configure(config: pytest.Config) -> None:
    """Say how much to try; throw away compiled kernels when a source has changed, before a worker reads one."""
    hurry(config.getoption("markexpr"))
    if not hasattr(config, "workerinput"):
        KERNELS.discard_stale()
