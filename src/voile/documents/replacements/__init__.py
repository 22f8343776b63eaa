"""What comes in the place of what was removed: marks, categories or surrogates."""
