"""Searches for feasible sets: each offers sets to a run, which keeps the best."""
