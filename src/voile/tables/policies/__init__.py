"""Define policies: bit-strings over ordered domains, the space of all policies, and Safe Harbor."""
