"""Find words that reveal identifiers by association, before and after these are removed.

Source: Li et al. 2016, the section on context; rules after Chow, Golle, Staddon, *Detecting Privacy
Leaks Using Corpus-Based Association Rules*, 2008, with one word on the left.
"""
