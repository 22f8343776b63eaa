"""The maps of the paper: the closed forms of Theorems 2 to 5 and the affine maps of Section 5.

The option `fit --method` also accepts these maps. The default method, transport, is in `methods`.
"""
