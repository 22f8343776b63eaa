"""Choose the writer of a release: to a file, to memory, or to a database table."""
