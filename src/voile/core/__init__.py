"""Values and words that everything shares: errors, frontiers, measures, evidence, progress."""
