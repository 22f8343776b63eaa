"""The verbs that the wing gives the ground floor: a file a verb."""
