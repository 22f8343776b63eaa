"""What a user calls; the options are those of `voile itemsets fit`."""

from __future__ import annotations

from voile.face.verbs import fit_of

fit = fit_of("itemsets")
