"""Read the settings of columns: fixed split points, and each column's weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.hierarchy import level_cuts
from voile.tables.domains.settings import QuasiSettings
from voile.tables.people.counts import Constraints

Bits = NDArray[np.bool_]
Settings = Mapping[str, Mapping[str, Any]]


def importance_of(domains: Sequence[ValueDomain], settings: Settings) -> tuple[float, ...] | None:
    """Return the importance of each column (1 by default), or None if the settings give none.

    Latitude and longitude of one place have half of their importance each.
    """
    asked = {
        d.column: QuasiSettings.check_settings(d.column, settings.get(d.column, {}))
        for d in domains
    }
    paired = {column for own, one in asked.items() if one.pair for column in (own, one.pair)}
    if not paired and all(one.importance is None for one in asked.values()):
        return None
    return tuple(
        (1.0 if one.importance is None else one.importance) * (0.5 if column in paired else 1.0)
        for column, one in asked.items()
    )


def add_cuts(
    domains: Sequence[ValueDomain], constraints: Constraints, settings: Settings
) -> Constraints:
    wanted = [QuasiSettings.check_settings(d.column, settings.get(d.column, {})) for d in domains]
    both = [_fix_cuts(domain, asked) for domain, asked in zip(domains, wanted, strict=True)]
    required, forbidden = (np.concatenate(cuts) for cuts in zip(*both, strict=True))
    if not (required | forbidden).any():
        return constraints
    return replace(
        constraints,
        required=_with(required, constraints.required),
        forbidden=_with(forbidden, constraints.forbidden),
    )


def _with(cuts: Bits, given: Bits | None) -> Bits:
    return cuts if given is None else cuts | given


def _fix_cuts(domain: ValueDomain, asked: QuasiSettings) -> tuple[Bits, Bits]:
    """Return masks of the split points of a column to keep and to drop."""
    stay, go = _cuts_after(domain, asked.keep_cuts), _cuts_after(domain, asked.drop_cuts)
    if asked.finest is not None or asked.coarsest is not None:
        between = level_cuts(domain, finest=asked.finest, coarsest=asked.coarsest)
        stay, go = stay | between[0], go | between[1]
    if asked.cut_every is not None:
        go |= _uneven_cuts(domain, asked.cut_every)
    if np.any(stay & go):
        raise RequestError(
            "a cut is both to keep and to drop", where=f"roles, column {domain.column}"
        )
    return stay, go


def _uneven_cuts(domain: ValueDomain, step: int) -> Bits:
    """Return a mask of the split points that are not just below a multiple of the step."""
    if domain.parser.kind != "integer" or domain.parser.edges:
        raise RequestError(
            "cut_every takes whole numbers, and this column has none",
            where=f"roles, column {domain.column}",
            instead="leave cut_every out, or give edges",
        )
    return np.array([after is not None and after % step != 0 for after in domain.values[1:]])


def _cuts_after(domain: ValueDomain, values: Sequence[Any]) -> Bits:
    cuts = np.full(len(domain) - 1, values == "all")
    if values == "all":
        return cuts
    for value in values:
        place = domain.code(value)
        if not 0 <= place < len(cuts):
            raise RequestError(
                "a cut is asked for after a value that is not in the domain, or is its last",
                where=f"roles, column {domain.column}",
            )
        cuts[place] = True
    return cuts
