"""Adversaries against signals, who have messages and some background knowledge."""
