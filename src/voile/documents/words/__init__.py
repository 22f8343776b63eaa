"""From text to a classifier's input: tokens with offsets, their attributes, sparse features."""
