"""What features are worth, how many people share them, and which may be published together."""
