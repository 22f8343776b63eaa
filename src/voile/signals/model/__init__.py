"""The stored kit and its parts: codecs, readings, sequences. All verbs except fit use it."""
