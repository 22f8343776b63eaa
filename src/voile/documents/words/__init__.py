"""Turn text into the input of a classifier: tokens with offsets, attributes and sparse features."""
