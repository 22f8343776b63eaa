"""The map that hides the class: learnt, looked after, and kept in a kit."""
