"""The compiled inner loops of the tables wing, and the arrays that they work on.

`cells` says what is counted, `scratch` scores any policies, `lattice` and `walk` score the
policies along a chain by what each merge changes, `interval` the intervals of one attribute,
`nested` bounds them all; `slabs` and `grouping` serve measures written in NumPy. `scorer` puts
them before the searches. Importing `cells` does not load numba.
"""
