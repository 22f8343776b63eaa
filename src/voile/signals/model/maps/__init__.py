"""Fitted maps as a kit stores them."""
