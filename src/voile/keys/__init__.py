"""Secrets and values derived from them: pseudonyms, seals, and two kinds of randomness."""
