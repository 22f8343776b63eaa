"""The compiled inner loops of trees: `split` finds a box's best cut, `sets` that of a column
without an order, `diverse` what both parts show of sensitive columns; `grow` cuts until no cut is
allowed, `prune` puts the cuts in the order in which they are worth the least, `place` finds the
box of each combination, `worlds` what sensitive values the missing cuts leave possible.
"""
