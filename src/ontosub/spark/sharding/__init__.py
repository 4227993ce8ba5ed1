"""Sharding: an index that is too large for one worker, split by ontology class over several.

A subscription goes to one shard, by a class that it requires of every event; an event goes to the shards of its
classes. This is the mapping of JTangCSPS (ontology class weighted tree → ontology class ids → brokers), with shards in
place of brokers. Answers are those of the unsharded index.
"""

from ontosub.spark.sharding.sharded_index import ShardedIndex
from ontosub.spark.sharding.shards import shard_index

__all__ = ["ShardedIndex", "shard_index"]
