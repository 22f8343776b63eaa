"""What a policy scores: risk and loss, and what its equivalence classes disclose.

`evaluator` scores by the compiled kernels, or by `group_scorer` for any other measures that are
sums over groups (`group_measures`).
"""
