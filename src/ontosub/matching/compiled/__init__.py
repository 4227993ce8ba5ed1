"""The compiled matcher: a shared index of standing queries, walked once per event.

Patterns become canonical step sequences that share prefixes in one trie; constants and thresholds are looked up in
tables at its leaves; the ontology is compiled into closures. Everything is flat arrays and Numba kernels over them.
"""

from ontosub.matching.compiled.algorithm import Compiled
from ontosub.matching.compiled.files.storage import read_ontology
from ontosub.matching.compiled.provisional import Provisional

__all__ = ["Compiled", "Provisional", "read_ontology"]
