"""What a release is still good for: an analyst's own model, fitted on it and on its source."""
