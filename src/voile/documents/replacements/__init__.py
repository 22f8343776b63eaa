"""Replace removed text with marks, categories or surrogates."""
