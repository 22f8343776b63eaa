"""What a user calls; the options are those of `voile tables fit` and `voile tables assess`."""

from __future__ import annotations

from voile.face.assessment import assess_of
from voile.face.verbs import fit_of

fit = fit_of("tables")
assess = assess_of("tables")
