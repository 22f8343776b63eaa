"""Secrets and what is derived from them: pseudonyms, seals, the two kinds of randomness."""
