"""Encode and decode with a fitted map, as a device needs it, with NumPy only.

A numeric reading is moved to a random point of its lattice cell. Elementary invertible steps then
map it. A nominal value is replaced by another value. The code stores no reading.
"""
