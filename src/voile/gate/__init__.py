"""The gate: it measures the written bytes of a release, with no code of fitting or attacking."""
