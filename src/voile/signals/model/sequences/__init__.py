"""Sequences of readings of one subject, encoded so that they reveal no more than one reading.

Client and server each run a `Session`. Loading a map needs NumPy; each reading then needs only
plain Python.
"""
