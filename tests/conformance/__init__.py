"""Conformance: what outside test suites say about Ontosub. The suites are data beside the project, never in it."""
