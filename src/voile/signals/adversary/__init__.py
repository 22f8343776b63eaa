"""The adversary of the signals wing: she overhears, learns the class, and tries ways round the map.

She is given messages and what she is said to know; the truth scores her.
"""
