"""What a study does, a file a verb, and what these files share."""
