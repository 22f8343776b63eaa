"""Compile the inner loops of trees.

- `split`: find a box's best cut. `sets`: the same for a column without an order.
- `diverse`: count the sensitive values in both parts.
- `grow`: cut until no cut is allowed.
- `prune`: put the cuts in the order of their worth, the least first.
- `place`: find the box of each combination.
- `worlds`: find the sensitive values that the missing cuts leave possible.
"""
