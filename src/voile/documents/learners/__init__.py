"""Learners of tokens, with their input and output."""
