"""The release gate, which measures the written bytes of a release.

It shares no code with fitting or attacking.
"""
