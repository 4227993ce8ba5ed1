"""The embedded session: what it sets, and what it leaves alone."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from ontosub.spark import embedded, session

pytestmark = pytest.mark.xdist_group("spark")


def test_the_active_session_is_used_as_it_is(spark):
    assert session({"spark.sql.shuffle.partitions": "77"}) is spark
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"


def test_another_thread_finds_it_too(spark):
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(session, {"spark.sql.shuffle.partitions": "77"}).result()
    assert found.sparkContext is spark.sparkContext
    assert found.conf.get("spark.sql.shuffle.partitions") == "2"


def test_it_stays_on_this_machine_and_runs_this_python(spark):
    assert spark.conf.get("spark.driver.host") in ("127.0.0.1", "localhost")
    assert spark.sparkContext.pythonExec == os.environ.get("PYSPARK_PYTHON", sys.executable)
    assert spark.conf.get("spark.python.unix.domain.socket.enabled") == "true"


def test_variables_are_set_only_while_it_starts(monkeypatch):
    monkeypatch.setenv("ONTOSUB_SET", "before")
    monkeypatch.delenv("ONTOSUB_UNSET", raising=False)
    with embedded._environment({"ONTOSUB_SET": "inside", "ONTOSUB_UNSET": "inside"}):
        assert (os.environ["ONTOSUB_SET"], os.environ["ONTOSUB_UNSET"]) == ("inside", "inside")
    assert os.environ["ONTOSUB_SET"] == "before"
    assert "ONTOSUB_UNSET" not in os.environ


def test_what_the_user_has_set_stays(monkeypatch, tmp_path):
    monkeypatch.setattr(embedded, "find_java", lambda environment: tmp_path)
    monkeypatch.setenv("SPARK_LOCAL_IP", "10.0.0.1")
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    assert embedded._variables() == {"PYSPARK_PYTHON": sys.executable, "JAVA_HOME": str(tmp_path)}
    monkeypatch.delenv("SPARK_HOME")
    folder = embedded._variables()["SPARK_CONF_DIR"]
    assert os.path.isfile(os.path.join(folder, "log4j2.properties"))
