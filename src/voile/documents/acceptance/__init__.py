"""Acceptance sampling: a reading proves that few identifiers are left in a release."""
