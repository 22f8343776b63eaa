"""The verbs of signals, a file each, and their shared options, kit content and attack data."""
