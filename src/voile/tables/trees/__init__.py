"""Define policies that divide the product of the domains into leaves by a tree of splits."""
