"""Checks of a fit's options and of its result."""

from __future__ import annotations

import numpy as np

from voile.core.errors import InfeasibleError, RequestError, nearest
from voile.core.warn import warn
from voile.signals.model.content import SignalsContent
from voile.signals.model.maps.checks import FEW, SignalsWarning
from voile.signals.model.readings.sources import SignalReader, SourceReadings
from voile.signals.options import FitOptions


def check_sent(reader: SignalReader, options: FitOptions) -> None:
    """Refuse a column that is to be sent and is no reading."""
    if wrong := [name for name in options.send if name not in reader.columns]:
        raise RequestError(
            f"{wrong[0]} is no column of readings",
            where="--send",
            instead=nearest(wrong[0], reader.columns),
        )


def check_bits(content: SignalsContent, most: float | None) -> None:
    """Refuse a frontier without a policy that reveals as little as the requested bits."""
    if most is None:
        return
    least = min(content.figures["bits_high"].to_pylist())
    if least > most:
        raise InfeasibleError(
            f"no policy reveals {most:g} bits or less with 95% confidence; the closest reveals "
            f"up to {least:.3g}",
            instead="ask for more, try another method, or fit to more subjects",
        )


def warn_of_few(content: SignalsContent, rows: SourceReadings) -> None:
    """Warn that a map fitted to few people may reveal information by itself."""
    first = np.unique(rows.whose, return_index=True)[1]
    fewest = int(np.unique(rows.labels[first], return_counts=True)[1].min())
    if fewest >= FEW:
        return
    best = min(content.figures.to_pylist(), key=lambda row: float(row["bits_high"]))
    low, high = (max(best[f"bits_{end}"], 0.0) for end in ("low", "high"))
    warn(
        f"a class has {fewest} people, and a map fitted to so few reveals some of the class: "
        f"{max(best['bits'], 0.0):.3f} bits (95% interval {low:.3f} to {high:.3f}) by the policy "
        "that reveals least. Fit to more people",
        SignalsWarning,
    )
