"""What a user calls; the options are those of `voile tables fit`."""

from __future__ import annotations

from voile.face.verbs import fit_of

fit = fit_of("tables")
