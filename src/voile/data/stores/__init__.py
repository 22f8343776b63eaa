"""Files in object stores and on the web: read where they lie, and releases published there."""
