"""Grow and prune trees."""
