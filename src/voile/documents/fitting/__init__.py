"""The code that only `fit`, `init` and `review` need: the loop, its figures, unmarked notes."""
