"""Train on unmarked notes: proposals, reviews and trust."""
