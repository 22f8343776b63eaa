"""Committees at work: the tokens that they remove, and the text that is published."""
