"""Classifiers of tokens that learners have trained, as kits store them."""
