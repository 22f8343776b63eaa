"""Make a release with many processes, on any machines that share its folder (see `run`)."""
