"""Grow and prune trees of boxes."""
