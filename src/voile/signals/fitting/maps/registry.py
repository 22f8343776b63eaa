"""The methods with which `PrivacyMap` and `fit` learn a map, by name."""

from __future__ import annotations

from collections.abc import Mapping

from voile.signals.fitting.methods.transport import TransportMethod
from voile.signals.model.maps.fitted import MapMethod
from voile.signals.paper.affine import LearnedAffine
from voile.signals.paper.closed_forms import ExponentialForm, GammaForm, NormalForm, UniformForm

METHODS: Mapping[str, MapMethod] = {
    "transport": TransportMethod(),
    "normal": NormalForm(),
    "exponential": ExponentialForm(),
    "gamma": GammaForm(),
    "uniform": UniformForm(),
    "affine": LearnedAffine(),
}
