"""Fixtures and hooks for all tests."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import ontosub
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
    """Throw away compiled kernels when a source has changed.

    Numba looks only at the file that a kernel is in; a kernel that calls into another file would stay as it was.
    """
    if hasattr(config, "workerinput"):
        return
    folder = Path(ontosub.__file__).parent / "matching" / "compiled"
    sources = sorted(folder.rglob("*.py"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    note = folder / "__pycache__" / "kernels.sha256"
    if not note.exists() or note.read_text() != digest:
        for kernel in folder.rglob("*.nb[ci]"):
            kernel.unlink()
        note.parent.mkdir(exist_ok=True)
        note.write_text(digest)
