"""Implement the verbs of the tables wing, one file a verb, and their shared code."""
