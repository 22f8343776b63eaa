"""Readers and writers, one file a format."""
