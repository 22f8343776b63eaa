"""Score policies: risk, loss, and the disclosure of their equivalence classes.

`evaluator` scores policies with the compiled kernels. It uses `group_scorer` for any other measure
that is a sum over groups (`group_measures`).
"""
