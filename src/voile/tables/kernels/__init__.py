"""The compiled inner loops of the tables wing, and the arrays that they work on.

`cells` says what is counted, `scratch` scores any policies, `lattice` and `walk` score the
policies along a chain by what each merge changes. Importing `cells` does not load numba.
"""
