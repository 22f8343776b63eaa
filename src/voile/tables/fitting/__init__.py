"""Fit: search the policies, grow trees, prove bounds; no other verb imports this code."""
