"""Counting and shuffling, where the data lives or on disk, within a stated memory."""
