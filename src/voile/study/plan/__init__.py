"""The plan of a study, `study.toml`, and the roles of its parts under it."""
