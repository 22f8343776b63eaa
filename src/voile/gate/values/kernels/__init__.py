"""The compiled loops of the value search, for tokens, keys, dates and encodings."""
