"""Many readings of one subject, which reveal no more than one: a map of their course.

Each of the two ends, a `Session`, loads it with NumPy alone and needs plain Python from there on.
"""
