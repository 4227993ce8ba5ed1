"""The machine that a benchmark ran on: figures without it mean nothing."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIBRARIES = ("ontosub", "pyoxigraph", "numpy", "numba", "rdflib", "duckdb", "clipspy")


@dataclass(frozen=True, slots=True)
class Machine:
    """Cores, processor, Python, and the versions of what took part."""

    cores: int
    cpu: str
    system: str
    python: str
    libraries: dict[str, str]

    @classmethod
    def here(cls) -> Machine:
        """Return this machine."""
        found = {name: _version(name) for name in LIBRARIES}
        return cls(
            os.cpu_count() or 1,
            _cpu_model(),
            f"{platform.system()} {platform.machine()}",
            platform.python_version(),
            {name: number for name, number in found.items() if number is not None},
        )

    def __str__(self) -> str:
        libraries = ", ".join(f"{name} {number}" for name, number in self.libraries.items())
        return f"{self.cpu}, {self.cores} cores (one used), {self.system}, Python {self.python}; {libraries}"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cpu_model() -> str:
    """Return the processor's name as Linux gives it, else what Python knows."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"
