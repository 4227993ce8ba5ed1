"""Queries beyond their core, answered on an event graph in numbers."""
