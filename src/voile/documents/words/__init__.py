"""From text to what a classifier sees: tokens with offsets, their attributes, sparse features."""
