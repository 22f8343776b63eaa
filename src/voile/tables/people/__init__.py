"""Count people by combination of quasi-identifier values, in the sample and the population."""
