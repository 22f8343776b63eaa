"""The verbs of a study, a file each, and their shared files."""
