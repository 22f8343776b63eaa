"""The compiled inner loops of the tables wing, and the arrays that they work on.

`cells` says what is counted, `scratch` scores any policies, `lattice` and `walk` those along a
chain by what each merge changes, `merging` two intervals and `joining` two cells; `interval` scores
the intervals of one attribute, `shortest` finds the cheapest partitions into them, `nested` bounds
them all; `slabs` and `grouping` serve measures written in NumPy. `scorer` says what a search asks,
`compiled_scorer` answers. Importing `cells` or `scorer` does not load numba.
"""
