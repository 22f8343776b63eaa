"""What a kit stores, and what finds identifiers without learning from the user's text."""
