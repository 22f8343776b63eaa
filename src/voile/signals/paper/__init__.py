"""The paper's own maps: the closed forms of Theorems 2 to 5, the learned affine maps of Section 5.

`fit --method` takes them as well; transport, which the product fits by itself, is in `methods`.
"""
