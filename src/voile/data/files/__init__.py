"""Files and folders that appear complete or not at all, and how voile recognises its own."""
