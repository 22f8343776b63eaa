"""The facts that a release of several parts shows an adversary, and people singled out by them."""
