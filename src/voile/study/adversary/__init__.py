"""The facts that a release of several parts shows an adversary, and people they single out."""
