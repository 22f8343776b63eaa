"""Kits, policies, releases and manifests: write rows into a release, and verify it."""
