"""Learners of tokens: their input and their output."""
