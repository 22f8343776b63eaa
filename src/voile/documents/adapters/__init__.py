"""Adapters for the user's own learners and tokenisers."""
