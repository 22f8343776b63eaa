"""From a policy to the values that a release shows, and the names of their intervals."""
