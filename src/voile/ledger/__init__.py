"""The record of all releases of one source, and what was promised of them together."""
