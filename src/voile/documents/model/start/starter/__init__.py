"""What was learnt from public text and comes with voile: how likely a token is part of a name."""
