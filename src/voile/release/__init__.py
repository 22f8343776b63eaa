"""Define kits, policies, releases and manifests; stream rows into a release, and verify it."""
