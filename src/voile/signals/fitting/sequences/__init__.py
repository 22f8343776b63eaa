"""The fit of the course of a subject's readings."""
