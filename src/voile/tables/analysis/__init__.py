"""Measure a release's utility: fit an analyst's own model on it and on its source."""
