"""The compiled inner loops of trees: `split` finds a box's best cut, `grow` cuts until no cut is
allowed, `prune` puts the cuts in the order in which they are worth the least, `place` finds the
box of each combination.
"""
