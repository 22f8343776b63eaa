"""Releases that voile did not make: their cells read, their rows matched, their boxes attacked."""
