"""Composite events on Spark: matches are packed by shard, each shard runs a detector, and what it finds is unpacked.

Few large chunks pass through Spark's state operator, each a table of matches, because it is slow with many rows.
"""
