"""Policies that cut the product of the domains into boxes, as a tree of cuts does."""
