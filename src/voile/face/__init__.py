"""The Python interface: kits and releases with the verbs as methods, and their reports."""
