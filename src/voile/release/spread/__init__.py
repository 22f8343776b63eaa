"""A release made by many processes, on any machines that share its folder: see `run`."""
