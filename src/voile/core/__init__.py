"""Values and texts shared by all packages: errors, frontiers, measures, evidence and progress."""
