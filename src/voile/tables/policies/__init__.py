"""Policies: bit-strings over ordered domains, the space of them all, and Safe Harbor."""
