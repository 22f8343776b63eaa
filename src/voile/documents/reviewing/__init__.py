"""A person reads what was proposed: the order of lines, the store of answers, the local page."""
