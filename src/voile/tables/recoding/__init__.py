"""Convert a policy to the values of a release, and name their intervals."""
