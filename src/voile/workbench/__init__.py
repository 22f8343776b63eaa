"""The workbench: one local page over the verbs and files of a project."""
