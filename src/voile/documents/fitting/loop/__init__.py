"""Train and evaluate committees."""
