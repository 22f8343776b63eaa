"""A release is accepted when reading a part of it proves that few identifiers are left in it."""
