"""A PostgreSQL server for tests: on the loopback address, at a free port, with a data folder of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

USER = "ontosub"


class Postgres:
    """A server that can be stopped and started again at the same port."""

    def __init__(self, binaries: Path, prefix: list[str], folder: Path, port: int) -> None:
        self._binaries, self._prefix, self._folder, self.port = binaries, prefix, folder, port
        self._databases = 0

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"

    def run(self, program: str, *arguments: str) -> None:
        command = [*self._prefix, str(self._binaries / program), *arguments]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/", timeout=120
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stdout.decode(errors='replace')}")

    def init(self) -> None:
        self.run("initdb", "-D", f"{self._folder}/data", "-U", USER, "--auth=trust", "--no-sync", "--encoding=UTF8")

    def start(self) -> None:
        settings = f"-h 127.0.0.1 -p {self.port} -k {self._folder} -c fsync=off -c shared_buffers=16MB"
        log = f"{self._folder}/log"
        self.run("pg_ctl", "-D", f"{self._folder}/data", "-l", log, "-o", settings, "-w", "start")

    def stop(self) -> None:
        self.run("pg_ctl", "-D", f"{self._folder}/data", "-m", "immediate", "-w", "stop")

    def create_database(self) -> str:
        """Return the URL of an empty database."""
        self._databases += 1
        name = f"test{self._databases}"
        self.run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER, name)
        return self.url(name)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Return a running server, stopped after all tests."""
    binaries = _binaries()
    with tempfile.TemporaryDirectory(prefix="ontosub-postgres-", ignore_cleanup_errors=True) as folder:
        server = Postgres(binaries, _prefix(folder), Path(folder), _free_port())
        server.init()
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _binaries() -> Path:
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    if not installed and on_path is None:
        pytest.skip("PostgreSQL is not installed: there is no initdb")
    return (installed[-1] if installed else Path(str(on_path)).resolve()).parent


def _prefix(folder: str) -> list[str]:
    """Return what makes a command run as somebody whom PostgreSQL accepts: not as root."""
    if os.getuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL does not run as root, and there is no setpriv to change the user with")
    try:
        shutil.chown(folder, "postgres", "postgres")
    except LookupError:
        pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
