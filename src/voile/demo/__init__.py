"""A made-up county to try voile on: nobody in it exists."""
