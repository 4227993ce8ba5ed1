"""The engines by name: our own algorithms, then the peers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ontosub.bench.engines.clips_rete import Clips
from ontosub.bench.engines.compiled_index import CompiledIndex
from ontosub.bench.engines.duckdb_join import DuckDb
from ontosub.bench.engines.engine import Engine
from ontosub.bench.engines.ours import Ours
from ontosub.bench.engines.oxigraph import Oxigraph
from ontosub.bench.engines.rdflib_ask import RdfLib
from ontosub.matching import ALGORITHMS

ENGINES: Mapping[str, Callable[[], Engine]] = {
    "compiled": CompiledIndex,
    **{name: partial(Ours, name) for name in ALGORITHMS if name not in ("auto", "compiled", "provisional")},
    **{engine.name: engine for engine in (Oxigraph, RdfLib, DuckDb, Clips)},
}

__all__ = ["ENGINES", "Engine"]
