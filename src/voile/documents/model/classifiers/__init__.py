"""Trained classifiers of tokens, in the form in which kits store them."""
