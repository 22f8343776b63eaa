"""The adversary of the tables wing, who links, singles out and infers, and is scored by truth.

Every attack takes integer codes, not files: the number of the interval that a released value is,
or -1 where it is missing. None of them sees a kit.
"""
