"""Fit a table: search the policies, grow trees, prove bounds. No other verb imports this code."""
