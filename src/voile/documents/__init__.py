"""Text about people, sanitised until an attacker has nothing left to learn."""
