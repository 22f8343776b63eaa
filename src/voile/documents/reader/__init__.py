"""A small frozen encoder that turns tokens into vectors of their context: see `README.md`."""
