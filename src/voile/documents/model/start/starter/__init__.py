"""A classifier that was trained on public text and comes with voile: it scores parts of names."""
