"""Measure a release's utility: fit an analyst's own model on the release and on its source."""
