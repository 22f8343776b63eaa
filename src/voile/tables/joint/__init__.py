"""Evaluate releases of one table together: the disclosure of each, and of all of them joined."""
