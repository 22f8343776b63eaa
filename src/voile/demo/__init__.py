"""A made-up county for trying voile. Nobody in it exists."""
