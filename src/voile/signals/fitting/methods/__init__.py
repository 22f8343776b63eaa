"""How a map is fitted: by transport, or by a form of `paper`."""
