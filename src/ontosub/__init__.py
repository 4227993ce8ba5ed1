"""Ontosub: publish knowledge, subscribe by meaning."""
