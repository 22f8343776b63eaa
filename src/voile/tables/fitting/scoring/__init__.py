"""Score many policies at once, for searches."""
