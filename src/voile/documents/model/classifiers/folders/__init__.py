"""Trained models of the user, in local folders."""
