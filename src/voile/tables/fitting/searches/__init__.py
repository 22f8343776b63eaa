"""Searches of the lattice of policies for the risk-utility frontier, a file a method."""
