"""What the tables wing does, a file a verb, and what these files share."""
