"""Review proposals: the order of lines, the store of answers, and the local page."""
