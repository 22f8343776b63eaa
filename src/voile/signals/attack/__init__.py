"""The adversary of the signals wing, who has messages and some background knowledge."""
