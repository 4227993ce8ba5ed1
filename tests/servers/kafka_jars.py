"""The jars that tests with Kafka need: Spark's connector, and a broker.

Neither is in a Python package. They are fetched once into build/jars, by the Ivy that comes with PySpark. Tests do it
when they need them; `python tests/servers/kafka_jars.py` does it beforehand.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pyspark

from ontosub.model.errors import UsageError
from ontosub.spark.java import find_java
from ontosub.spark.packages import kafka_package

FOLDER = Path(__file__).parents[2] / "build" / "jars"
SECONDS_MAX = 240

BROKER = ["org.apache.kafka:kafka_2.13:4.1.2", "org.slf4j:slf4j-simple:1.7.36"]
NEAREST = [
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.1.0-preview1",
    "org.apache.kafka:kafka-clients:3.9.2",
    "org.apache.commons:commons-pool2:2.13.1",
]
"""A connector that works with Spark 4.3, for where that of its own version cannot be had."""

_MODULE = """<ivy-module version="2.0">
  <info organisation="ontosub" module="tests"/>
  <dependencies>{}</dependencies>
</ivy-module>"""
_DEPENDENCY = '<dependency org="{}" name="{}" rev="{}" conf="default->default" transitive="{}"/>'


class NotFetched(Exception):
    """Jars could not be had; says which, and why."""


@cache
def broker_jars() -> Path:
    """Return the folder with the jars of a broker. Raises NotFetched."""
    return _kept("broker", lambda folder: _fetch(BROKER, folder))


@cache
def connector_jars() -> Path:
    """Return the folder with the jars of Spark's connector: of this Spark's version or, if need be, a near one."""

    def fetch(folder: Path) -> None:
        try:
            _fetch([kafka_package()], folder)
        except NotFetched:
            _fetch(NEAREST, folder, transitive=False)

    return _kept(f"connector-{pyspark.__version__}", fetch)


def connector_settings() -> dict[str, str]:
    """Return the settings for a session with the connector; none where it cannot be had."""
    try:
        return {"spark.jars": ",".join(map(str, sorted(connector_jars().iterdir())))}
    except NotFetched:
        return {}


def _kept(name: str, fetch) -> Path:
    """Return a folder of jars, fetched if this machine has it not. Another process may do the same meanwhile."""
    folder = FOLDER / name
    if not folder.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        fresh = Path(mkdtemp(dir=FOLDER))
        try:
            fetch(fresh / "jars")
            if not folder.exists():
                (fresh / "jars").rename(folder)
        finally:
            shutil.rmtree(fresh)
    return folder


def _fetch(packages: list[str], folder: Path, *, transitive: bool = True) -> None:
    wanted = [_DEPENDENCY.format(*package.split(":"), str(transitive).lower()) for package in packages]
    module = folder.parent / "ivy.xml"
    module.write_text(_MODULE.format("".join(wanted)))
    jar = next((Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar"))
    java = find_java(os.environ) / "bin" / "java"
    places = ["-cache", folder.parent / "cache", "-retrieve", folder / "[artifact]-[revision].[ext]"]
    command = [
        java,
        f"-Divy.default.ivy.user.dir={folder.parent}",
        "-jar",
        jar,
        "-ivy",
        module,
        "-types",
        "jar",
        "bundle",
    ]
    try:
        run = subprocess.run([*command, *places], capture_output=True, text=True, timeout=SECONDS_MAX)
    except subprocess.TimeoutExpired:
        raise NotFetched(f"{' '.join(packages)} cannot be fetched: no answer for {SECONDS_MAX} s") from None
    if run.returncode or not folder.exists():
        faults = [line.strip() for line in (run.stdout + run.stderr).splitlines() if "not found" in line]
        raise NotFetched(f"{' '.join(packages)} cannot be fetched: {'; '.join(faults[-2:]) or run.returncode}")


def main() -> int:
    """Fetch all, and say what could not be had."""
    faults = 0
    for jars in (broker_jars, connector_jars):
        try:
            print(jars())
        except (NotFetched, UsageError) as error:
            faults += 1
            print(error, file=sys.stderr)
    return min(faults, 1)


if __name__ == "__main__":
    sys.exit(main())
