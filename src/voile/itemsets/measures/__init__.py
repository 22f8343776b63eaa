"""What features are worth, who shares them, and which may be shared together."""
