"""Trained models of the user's own, in folders of this machine."""
