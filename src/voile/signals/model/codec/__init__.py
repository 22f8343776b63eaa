"""What a device needs to encode and decode with a fitted map: NumPy alone.

A reading is moved to a point of its lattice's cell and taken through elementary steps, each of
which has an inverse; a nominal value is exchanged for another. None of it holds a reading.
"""
