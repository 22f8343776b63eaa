"""Methods of the paper and its rivals: Maximal, greedy selectors, flipping and noisy releases."""
