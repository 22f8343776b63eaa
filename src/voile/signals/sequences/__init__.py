"""Many readings of one subject, which tell no more than one: a map of how they go on.

Each of the two ends, a `Session`, loads it with NumPy alone and needs plain Python from there on.
"""
