"""A person reads the proposals: the order of lines, the store of answers, the local page."""
