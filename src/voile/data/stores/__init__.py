"""Files in object stores and on the web, read in place, and releases published there."""
