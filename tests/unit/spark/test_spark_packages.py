"""How a session comes to Spark's Kafka connector, and what is told where it does not."""

import subprocess
import sys

import pyspark
import pytest

from ontosub.spark import packages
from ontosub.spark.packages import kafka_package, with_kafka

NOTHING = (
    '<ivysettings><settings defaultResolver="none"/><resolvers><filesystem name="none"/></resolvers></ivysettings>'
)

LACKING = """
from ontosub.spark import session
from ontosub.spark.sources.kafka import KafkaSource
KafkaSource("127.0.0.1:1", ["t"]).batch(session(master="local[1]"))
"""
OFFLINE = """
import sys
from ontosub.spark.packages import kafka_session
kafka_session({"spark.jars.ivySettings": sys.argv[1], "spark.jars.ivy": sys.argv[2]}, master="local[1]")
"""


def test_the_package_is_that_of_this_spark():
    assert kafka_package() == f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}"


def test_it_is_fetched_unless_it_is_there(monkeypatch, tmp_path):
    package = kafka_package()
    assert with_kafka({}) == {"spark.jars.packages": package}
    assert with_kafka({"a": "1", "spark.jars.packages": "x:y:1"})["spark.jars.packages"] == f"x:y:1,{package}"
    for named in (
        {"spark.jars.packages": "org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.1"},
        {"spark.jars": "/opt/kafka-clients.jar,/opt/spark-sql-kafka-0-10_2.13-4.3.0.jar"},
        {"spark.driver.extraClassPath": "/opt/spark-sql-kafka-0-10_2.13-4.3.0.jar"},
    ):
        assert with_kafka(named) == named
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-sql-kafka-0-10_2.13-4.3.0.jar").touch()
    monkeypatch.setattr(packages, "_find_spark_home", lambda: str(tmp_path))
    assert with_kafka({"a": "1"}) == {"a": "1"}


@pytest.mark.parametrize(("script", "told"), [(LACKING, "has no Kafka connector"), (OFFLINE, "Spark did not start")])
def test_what_to_do_is_told(script, told, tmp_path):
    settings = tmp_path / "ivy.xml"
    settings.write_text(NOTHING)
    command = [sys.executable, "-c", script, str(settings), str(tmp_path / "ivy")]
    said = subprocess.run(command, capture_output=True, text=True, timeout=240).stderr
    assert f"UsageError: {told}" in said or f"UsageError: this Spark session {told}" in said
    assert f"spark.jars.packages={kafka_package()}" in said
