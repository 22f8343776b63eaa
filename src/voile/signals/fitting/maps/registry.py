"""The methods by which `PrivacyMap` and `fit` learn a map, by name."""

from __future__ import annotations

from collections.abc import Mapping

from voile.signals.fitting.methods.transport import Transport
from voile.signals.model.maps.fitted import Method
from voile.signals.paper.affine import LearnedAffine
from voile.signals.paper.closed_forms import Exponential, Gamma, Normal, Uniform

METHODS: Mapping[str, Method] = {
    "transport": Transport(),
    "normal": Normal(),
    "exponential": Exponential(),
    "gamma": Gamma(),
    "uniform": Uniform(),
    "affine": LearnedAffine(),
}
