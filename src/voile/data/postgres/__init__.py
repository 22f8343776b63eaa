"""Tables of PostgreSQL: addresses, sessions, reading and writing."""
