"""Compute lower bounds on the loss of any policy at a risk, for a frontier's optimality gap."""
