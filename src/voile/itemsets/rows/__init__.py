"""Sparse 0/1 rows: columns of items, their sources, and their sparse storage."""
