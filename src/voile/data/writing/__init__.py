"""Which writer writes a release: into a file, into memory, or into a table of a database."""
