"""The verbs of a study, one file each, and their shared files."""
