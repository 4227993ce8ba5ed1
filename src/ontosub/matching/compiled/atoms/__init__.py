"""Predicate indexes: which tests of one term hold of which vertex, found once per event for all subscriptions."""
