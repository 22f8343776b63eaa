"""Score policies: risk, loss, and the disclosure of their equivalence classes.

`evaluator` scores by the compiled kernels, or by `group_scorer` for any other measures that are
sums over groups (`group_measures`).
"""
