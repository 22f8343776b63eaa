"""The map that hides the class: fitting, and trials on held-out subjects."""
