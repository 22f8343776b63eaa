"""The map that hides the class: fitted, tried on held-out subjects, and stored in a kit."""
