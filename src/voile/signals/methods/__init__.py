"""How a map is learnt: by transport, under differential privacy, or by a form of `paper`."""
