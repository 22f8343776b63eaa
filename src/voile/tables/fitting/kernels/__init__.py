"""Compile the inner loops of the tables module, and define their arrays.

- `cells`: the counted cells.
- `scratch`: score any policies. `lattice` and `walk`: score a chain by the change of each merge.
- `merging`: merge two intervals. `joining`: join two cells.
- `interval`: score the intervals of one attribute. `shortest`: find the cheapest partitions.
- `nested`: bound all partitions.
- `slabs` and `grouping`: support measures written in NumPy.
- `scorer`: the interface that a search needs. `compiled_scorer`: its implementation.

Importing `cells` or `scorer` does not import numba.
"""
