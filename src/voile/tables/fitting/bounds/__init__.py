"""Lower bounds on the loss of any policy at a risk: how far a frontier is from the best."""
