"""The independent measurer: it reads written bytes and the source, and states findings."""
