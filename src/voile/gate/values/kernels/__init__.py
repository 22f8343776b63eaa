"""The compiled loops of the value search: tokens, keys of values and texts, dates, encodings."""
