"""Fitting of maps, and the audit of fitted maps. Only the verb `fit` imports this package."""
