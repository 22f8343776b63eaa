"""The verbs of signals, one file each, with their shared options, kit content and attack data."""
