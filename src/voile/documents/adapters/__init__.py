"""The user's own learners and tokenisers, made to fit."""
