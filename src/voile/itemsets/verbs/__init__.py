"""The wing's product path: a file for each verb, and what they share."""
