"""How a map is fitted: by transport, under differential privacy, or by a form of `paper`."""
