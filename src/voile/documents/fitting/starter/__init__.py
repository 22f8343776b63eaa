"""Scripts that train the pretrained models on public text."""
