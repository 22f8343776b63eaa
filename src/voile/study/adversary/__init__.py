"""What an adversary reads in a release of several parts, and who can be picked out by it."""
