"""Learners of tokens: what they are shown, and what they give."""
