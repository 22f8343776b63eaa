"""The methods by which a map is learnt, one file each."""

from __future__ import annotations

from collections.abc import Mapping

from voile.signals.methods.affine import LearnedAffine
from voile.signals.methods.exponential import Exponential
from voile.signals.methods.fitted import Fitted, Method, Sample
from voile.signals.methods.gamma import Gamma
from voile.signals.methods.normal import Normal
from voile.signals.methods.private import Private
from voile.signals.methods.transport import Transport
from voile.signals.methods.uniform import Uniform

__all__ = ["METHODS", "Fitted", "Method", "Private", "Sample"]

METHODS: Mapping[str, Method] = {
    "transport": Transport(),
    "normal": Normal(),
    "exponential": Exponential(),
    "gamma": Gamma(),
    "uniform": Uniform(),
    "affine": LearnedAffine(),
}
