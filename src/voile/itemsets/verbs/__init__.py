"""The wing's product path: a file a verb, and what they share."""
