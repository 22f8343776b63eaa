"""Measure the written bytes of a release, independently of the code that made it."""
