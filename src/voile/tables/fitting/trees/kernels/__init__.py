"""Compile the kernels that grow trees."""
