"""The paper's own learners, loaded by name where asked for."""
