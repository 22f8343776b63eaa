"""The verbs of the documents module, with one file for each verb."""
