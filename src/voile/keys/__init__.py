"""Secrets and their derived values: pseudonyms, seals, the two kinds of randomness."""
