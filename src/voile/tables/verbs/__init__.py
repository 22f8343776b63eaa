"""Implement the verbs of the tables module, one file for each verb, and their shared code."""
