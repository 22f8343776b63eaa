"""Replacements of removed text: marks, categories or surrogates."""
