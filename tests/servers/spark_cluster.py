"""A standalone Spark cluster on the loopback address: a master, and workers that come and go."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest

import ontosub.spark
from ontosub.model.errors import UsageError
from ontosub.spark.java import find_java

SECONDS_MAX = 120
_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"


class Cluster:
    """A cluster with its logs and its work in a folder. Workers have one core and 1 GB each."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = {
            **os.environ,
            "JAVA_HOME": str(find_java(os.environ)),
            "SPARK_HOME": str(Path(pyspark.__file__).parent),
            "SPARK_CONF_DIR": str(Path(ontosub.spark.__file__).parent / "conf"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "PYSPARK_PYTHON": sys.executable,
        }
        port, self._page = _free_ports(2)
        self.address = f"spark://127.0.0.1:{port}"
        own = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(self._page)]
        self._processes = [self._started(_MASTER, *own)]
        self._workers = 0

    def add_worker(self) -> int:
        """Start a worker, and return its process once the master knows it."""
        known = self.workers()
        self._workers += 1
        place = ["--work-dir", str(self._folder / f"work-{self._workers}"), "--webui-port", "0"]
        process = self._started(_WORKER, "--host", "127.0.0.1", "--cores", "1", "--memory", "1g", *place, self.address)
        self._processes.append(process)
        self._wait(lambda: self.workers() > known)
        return process.pid

    def kill(self, worker: int) -> None:
        """Kill a worker and its executors at once, as a power cut would, and return when the master knows."""
        known = self.workers()
        os.killpg(worker, signal.SIGKILL)
        self._wait(lambda: self.workers() < known)

    def workers(self) -> int:
        """Return how many workers the master knows to be alive."""
        return int(self._state().get("aliveworkers", 0))

    def cores(self) -> int:
        """Return how many cores applications have."""
        return int(self._state().get("coresused", 0))

    def stop(self) -> None:
        for process in reversed(self._processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _state(self) -> dict[str, Any]:
        """Return what the master says of itself; nothing while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._page}/json/", timeout=10) as answer:
                found = json.load(answer)
        except OSError:
            return {}
        return found if isinstance(found, dict) else {}

    def _started(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self._folder / "log").open("ab") as log:
            command = [f"{self._environment['SPARK_HOME']}/bin/spark-class", program, *arguments]
            return subprocess.Popen(command, env=self._environment, stdout=log, stderr=log, start_new_session=True)

    def _wait(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + SECONDS_MAX
        while not condition():
            if time.monotonic() > deadline:
                raise RuntimeError(f"the cluster does not do it: {(self._folder / 'log').read_text()[-2000:]}")
            time.sleep(0.1)  # between two looks at what the master says


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listening.getsockname()[1] for listening in sockets]
    for listening in sockets:
        listening.close()
    return ports


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return a cluster of a master and no workers, stopped after the tests of a module."""
    try:
        made = Cluster(tmp_path_factory.mktemp("cluster"))
    except UsageError as error:
        pytest.skip(str(error))
    try:
        yield made
    finally:
        made.stop()
