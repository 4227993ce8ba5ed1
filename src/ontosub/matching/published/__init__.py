"""The algorithms of the papers, as they describe them: OPS, iBroker, and G-ToPSS, iBroker's baseline.

They are here to be read and compared; each gives the answers of the naive matcher. Where a paper's description had to
be completed, docs/PUBLISHED.md says so.
"""

from ontosub.matching.published.gtopss import GToPSS, GToPSSStats
from ontosub.matching.published.ibroker import IBroker, IBrokerStats
from ontosub.matching.published.ops import Ops, OpsStats

__all__ = ["GToPSS", "GToPSSStats", "IBroker", "IBrokerStats", "Ops", "OpsStats"]
