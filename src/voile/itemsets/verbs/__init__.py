"""The verbs of itemsets: one file for each verb, and shared code."""
