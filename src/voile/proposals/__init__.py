"""Propose roles for a source, as `voile inspect` does, with one file for each kind of data."""
