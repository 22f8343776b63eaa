"""Files and folders that appear whole or not at all, and how voile knows its own."""
