"""Compile the inner loops of trees.

- `split`: find the best split of a node. `sets`: the same for a column without an order.
- `diverse`: count the sensitive values on both sides.
- `grow`: split until no split is allowed.
- `prune`: order the splits by their value, lowest first.
- `place`: find the leaf of each combination.
- `worlds`: find the sensitive values that the missing splits leave possible.
"""
