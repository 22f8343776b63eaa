"""Simulate an adversary of tables who links, singles out and infers, and score the claims.

Every attack takes integer codes instead of files. A code is the number of the interval that a
released value belongs to, or -1 if the value is missing. No attack reads a kit.
"""
