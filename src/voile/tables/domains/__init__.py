"""Ordered domains: how the values of a quasi-identifier are read, ordered and labelled.

`settings` reads what a roles file says of a column; `ordering`, `hierarchy` and `tours` decide
which values lie side by side, and can be merged.
"""
