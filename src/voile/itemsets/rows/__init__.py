"""Sparse 0/1 rows: columns of items, where they come from, held once and never dense."""
