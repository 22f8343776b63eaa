"""Searches for feasible sets. Each search offers sets to a run, which keeps the best."""
