"""A Spark session for who has none: all cores of this machine, nothing reachable from outside, quiet."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

from ontosub.spark.java import find_java

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

SETTINGS: Mapping[str, str] = {
    # The default one starts dozens of processes for every micro-batch.
    "spark.sql.streaming.checkpointFileManagerClass": "org.apache.spark.sql.execution.streaming.checkpointing"
    ".FileSystemBasedCheckpointFileManager",
    "spark.python.unix.domain.socket.enabled": "true",
    # What `compose` needs, and how it stores little at each micro-batch.
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # One task for each core after a shuffle: hundreds, each of which would start a worker's round, suit a cluster.
    "spark.sql.shuffle.partitions": str(os.cpu_count() or 2),
    # Workers keep the memory that a piece of work has freed for the next one: to have it from the system anew, page by
    # page, takes an eighth of their time.
    "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": str(32 * 1024 * 1024),
    "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(128 * 1024 * 1024),
    "spark.ui.showConsoleProgress": "false",
    # The JVM schedules, and Python works: its second compiler and its parallel collector would take minutes of time
    # from the workers before they pay. And stopping a query from inside foreachBatch needs a deep stack.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss16m",
}
"""What pays on one machine."""

_ELSEWHERE = {"PYSPARK_GATEWAY_PORT", "SPARK_REMOTE"}
"""Variables that say that the JVM is there already: spark-submit's, and that of Spark Connect."""


def session(
    options: Mapping[str, str] | None = None, *, name: str = "ontosub", master: str = "local[*]"
) -> SparkSession:
    """Return the session that this process has, as it is; if there is none, start one.

    `options` are Spark's, and go before ours (SETTINGS). Under spark-submit, and where SPARK_REMOTE names a server,
    those decide: neither master nor SETTINGS are set. Raises UsageError when no Java can be found.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    if SparkContext._active_spark_context is not None:  # started by another thread
        return SparkSession.builder.getOrCreate()
    builder: SparkSession.Builder = SparkSession.builder.appName(name)
    if _ELSEWHERE & os.environ.keys():
        return builder.config(map={**(options or {})}).getOrCreate()
    with _environment(_variables()):
        return builder.config(map={**SETTINGS, **(options or {})}).master(master).getOrCreate()


def _variables() -> dict[str, str]:
    """Return what the JVM and the workers are to find in their environment; what the user has set there stays."""
    wanted = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    if "SPARK_HOME" not in os.environ:  # whoever has one may have settings in it
        wanted["SPARK_CONF_DIR"] = str(Path(__file__).parent / "conf")
    wanted = {name: value for name, value in wanted.items() if name not in os.environ}
    return {**wanted, "JAVA_HOME": str(find_java(os.environ))}


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set variables while the JVM is started, and only then: they concern nobody else in this process."""
    former = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in former.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
