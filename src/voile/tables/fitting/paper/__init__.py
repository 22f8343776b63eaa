"""Searches of the paper that the best ones here are compared with.

Random chains (Algorithm 1), sublattices (Algorithms 2 and 3), and Benitez et al.'s bisection.
"""
