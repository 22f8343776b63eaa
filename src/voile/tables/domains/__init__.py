"""Define ordered domains: how the values of a quasi-identifier are read, ordered and labelled.

`settings` reads a column's settings from a roles file. `ordering`, `hierarchy` and `tours`
determine which values are neighbours and can be merged.
"""
