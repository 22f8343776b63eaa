"""Read, match and attack releases that other tools have made."""
