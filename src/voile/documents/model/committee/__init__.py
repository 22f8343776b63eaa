"""Committees at work: what they remove, and what is published."""
