"""The ledger, which records all releases of one source and their joint risk budget."""
