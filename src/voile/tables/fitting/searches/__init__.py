"""Search the lattice of policies for the risk-utility frontier, with one file for each method."""
