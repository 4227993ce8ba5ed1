"""Where Spark's Kafka connector comes from: PySpark lacks it, and it must be there when the JVM starts.

Spark fetches packages itself (`spark.jars.packages`), from where its own settings say, and keeps them for the next
start. Without a network, whoever has the jars names them (`spark.jars`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pyspark
from pyspark.errors import PySparkRuntimeError
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import SparkSession

from ontosub.model.errors import UsageError
from ontosub.spark.embedded import session

CONNECTOR = "spark-sql-kafka-0-10"

_SPARK = re.compile(r"spark-sql_(?P<scala>[\d.]+)-(?P<spark>.+)\.jar")
_NAMED_IN = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")


def kafka_package() -> str:
    """Return the coordinates of the connector that belongs to this Spark."""
    builds = [found for jar in _jars() if (found := _SPARK.fullmatch(jar.name))]
    scala, spark = (builds[0]["scala"], builds[0]["spark"]) if builds else ("2.13", pyspark.__version__)
    return f"org.apache.spark:{CONNECTOR}_{scala}:{spark}"


def with_kafka(options: Mapping[str, str]) -> dict[str, str]:
    """Return options with which a new session has the connector.

    They are those given and the connector's package, unless the options or Spark's own folder of jars have it already.
    """
    if any(CONNECTOR in options.get(name, "") for name in _NAMED_IN) or any(CONNECTOR in jar.name for jar in _jars()):
        return dict(options)
    packages = [package for package in options.get("spark.jars.packages", "").split(",") if package.strip()]
    return {**options, "spark.jars.packages": ",".join([*packages, kafka_package()])}


def kafka_session(
    options: Mapping[str, str] | None = None, *, name: str = "ontosub", master: str = "local[*]"
) -> SparkSession:
    """Return what `session` returns; one that is started has the connector.

    Raises UsageError, with what to do, when the JVM ends before it is ready, as it does when it cannot fetch.
    """
    wanted = with_kafka(options or {})
    try:
        return session(wanted, name=name, master=master)
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        raise UsageError(f"Spark did not start; if it says above that it found no package: {_advice()}") from error


def missing_connector() -> UsageError:
    """Return what to tell when a running session lacks the connector."""
    return UsageError(f"this Spark session has no Kafka connector: {_advice()}")


def _advice() -> str:
    package = kafka_package()
    return (
        f"start it with spark.jars.packages={package} where Maven packages can be fetched "
        f"(spark.jars.ivySettings names a mirror), or fetch that package elsewhere, with what it depends on, "
        f"and name its jars in spark.jars"
    )


def _jars() -> list[Path]:
    return sorted((Path(_find_spark_home()) / "jars").glob("spark-sql*.jar"))
