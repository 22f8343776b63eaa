"""Run committees: remove tokens, and publish the text."""
