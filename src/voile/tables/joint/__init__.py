"""Releases of one table judged together: what each discloses, and what all of them join to."""
