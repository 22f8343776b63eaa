"""Fitted maps in the form that a kit stores."""
