"""Propose identifiers before any text is annotated."""
