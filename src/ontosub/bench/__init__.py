"""Benchmarks: workloads drawn from a seed, engines to compare, a runner that checks answers before it shows times."""

from ontosub.bench.engines import ENGINES, Engine
from ontosub.bench.reference import Disagreement
from ontosub.bench.runner import Conditions, Measurement, Outcome, run
from ontosub.bench.workload import Published, Workload
from ontosub.bench.workloads import WORKLOADS

__all__ = [
    "ENGINES",
    "WORKLOADS",
    "Conditions",
    "Disagreement",
    "Engine",
    "Measurement",
    "Outcome",
    "Published",
    "Workload",
    "run",
]
