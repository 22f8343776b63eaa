"""Encode and decode with a fitted map, as a device needs it: NumPy alone.

A numeric reading is moved to a point of its lattice's cell and taken through elementary steps, each
with an inverse. A nominal value is exchanged for another. The code stores no reading.
"""
