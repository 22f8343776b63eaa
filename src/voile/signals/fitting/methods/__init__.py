"""Methods of fitting a map. `paper` has more methods."""
