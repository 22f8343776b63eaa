"""Find words next to identifiers that reveal them, before and after these are removed."""
