"""Scripts that learn the pretrained models from public text."""
