"""Roles proposed for a source: what `voile inspect` shows, one file a kind of data."""
