"""Searches of the literature, for comparison with voile's best searches.

They are random chains (Algorithm 1), sublattices (Algorithms 2 and 3), and Benitez et al.'s
bisection.
"""
