"""Fixed tables of a kit, and the ends in C and JavaScript that read them, for small devices."""
