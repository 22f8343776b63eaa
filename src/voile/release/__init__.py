"""Kits, policies, releases and manifests; how rows stream into a release; verifying it."""
