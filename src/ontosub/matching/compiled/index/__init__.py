"""The shared index: patterns as steps in a trie, conditions in tables at its leaves, and the walk through it."""
