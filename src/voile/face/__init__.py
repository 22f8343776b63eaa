"""Voile as Python has it: kits and releases with the verbs as methods, and their reports."""
