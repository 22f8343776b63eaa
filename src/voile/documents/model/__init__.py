"""The contents of a kit, and finders of identifiers that need no training on the user's text."""
