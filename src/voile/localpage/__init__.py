"""A local page for one person's browser: its guard, its server and its files."""
