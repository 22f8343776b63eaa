"""The paper's own: learners loaded where they are asked for by name, and an experiment."""
