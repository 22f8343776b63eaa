"""A page that one person opens on this machine: its guard, its server and its files."""
