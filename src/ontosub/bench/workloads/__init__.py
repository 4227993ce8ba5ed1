"""The workloads by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ontosub.bench.workload import Generator
from ontosub.bench.workloads import lubm, mixed, ops, residual, templates


class Kind(NamedTuple):
    """How a workload is made, and in which sizes and with how many events when nobody says."""

    generate: Generator
    sizes: tuple[int, ...]
    events: int


WORKLOADS: Mapping[str, Kind] = MappingProxyType(
    {
        "ops": Kind(ops.generate, (1_000, 10_000), 20),
        "templates": Kind(templates.generate, (1_000, 10_000), 20),
        "mixed": Kind(mixed.generate, (1_000, 10_000), 20),
        "residual": Kind(residual.generate, (1_000, 10_000), 20),
        "lubm": Kind(lubm.generate, (1_000,), 1),
        "lubm-residual": Kind(lubm.generate_residual, (100,), 1),
    }
)
