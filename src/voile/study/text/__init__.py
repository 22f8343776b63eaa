"""The rule for facts in texts that a person's rows also show, and its certificate."""
