"""Judge releases of one table together: their disclosures, and the join of all of them."""
