"""Counting and shuffling in the engine of the data or on disk, within a memory limit."""
