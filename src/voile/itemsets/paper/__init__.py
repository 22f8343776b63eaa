"""The paper's own and its rivals: Maximal, the greedy selectors, flipping, noisy releases."""
