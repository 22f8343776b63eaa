"""How a map is learnt: by transport, under differential privacy, or by a form of `paper`."""

from voile.signals.methods.fitted import Fitted, Method, Sample
from voile.signals.methods.private import Private

__all__ = ["Fitted", "Method", "Private", "Sample"]
