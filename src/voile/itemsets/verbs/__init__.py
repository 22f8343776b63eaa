"""The verbs of itemsets: a file for each verb, and their shared code."""
