"""Measure utility, anonymity and feasibility of sets of features."""
