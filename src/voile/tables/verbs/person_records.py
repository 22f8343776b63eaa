"""Handle rows of a person that a released column joins: the choices, and the accepted risk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.release.accepted_risk import ACCEPT
from voile.report.wording import join_names

ROWS_ALONE = (
    *("population", "sampled", "fraction", "risk", "loss", "outcomes", "method", "chain_order"),
    *("bisect_risk", "start_from", "evaluations", "seconds", "lower_bound_seconds", "analysis"),
    *("entropy_l", "t_closeness", "suppress", "empty_boxes", "zip_column", "age_column"),
    *("vintage", "on"),
)
"""Options that only policies per row support."""


def list_choices(
    fitted: Mapping[str, Any], *, has_pseudonyms: bool, joins_by_order: bool = False
) -> str:
    """List the choices of a data holder if a release singles people out by all their rows.

    Parameters
    ----------
    fitted : the options of the fit, without those at their defaults.
    has_pseudonyms : whether the release has pseudonyms. If not, kept columns join the rows, or with
        `joins_by_order` the kept order.
    """
    given = [f"--{name.replace('_', '-')}" for name in ROWS_ALONE if name in fitted]
    given += ["--family global"] * (fitted.get("family") == "global")
    without = f" and without {join_names(given)}" if given else ""
    if has_pseudonyms:
        unjoined = "apply with --no-pseudonyms"
    elif joins_by_order:
        unjoined = "apply without --keep-order"
    else:
        unjoined = "fit with the role drop for each column that joins rows"
    return (
        f"choose one: fit with --promise person{without}, {unjoined}, apply with --one-row, "
        f"or {ACCEPT}"
    )
