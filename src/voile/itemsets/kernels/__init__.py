"""Compiled inner loops for itemsets."""
