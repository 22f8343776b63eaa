"""The record of all releases of one source, and the risk budget for them together."""
