"""What the wing hands the ground floor: a file a verb."""
