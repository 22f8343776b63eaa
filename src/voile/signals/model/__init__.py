"""The stored kit and its parts: codecs, readings, sequences. All verbs but fit start here."""
