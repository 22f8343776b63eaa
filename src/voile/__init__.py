"""Share data about people, and know what an adversary could still do with it."""

__version__ = "0.1.0"
