"""Notes that nobody marked: proposals, reviews and trust, as text to learn from."""
