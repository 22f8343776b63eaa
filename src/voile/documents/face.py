"""What a user calls; the options are those of `voile documents fit` and the other verbs."""

from __future__ import annotations

from voile.face.assessment import assess_of
from voile.face.verbs import fit_of, own_of

fit = fit_of("documents")
assess = assess_of("documents")
accept = own_of("documents", "accept")
forecast = own_of("documents", "forecast")
init = own_of("documents", "init")
review = own_of("documents", "review")
