"""Run the analysis of a fit: check its columns and read its rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from voile.core.frontier import Frontier
from voile.core.progress import ProgressHook
from voile.data import Source
from voile.data.roles import AS_IT_IS, Roles
from voile.tables.analysis.model import LinearModel
from voile.tables.analysis.own import read_own
from voile.tables.analysis.rows import read_rows
from voile.tables.analysis.spread import AnalysedRows, SourceAnalysis, analyse
from voile.tables.fitting.space import PolicySpace
from voile.tables.policies.family import PolicyFamily
from voile.tables.policies.policy import Policy
from voile.tables.verbs.options import FitOptions


def read_model(options: FitOptions, roles: Roles) -> LinearModel | None:
    """Return the requested model, or None.

    Raises
    ------
    RequestError : the model has columns that the release lacks.
    """
    asked = options.analysis
    if asked is None or callable(asked):
        return None
    model = LinearModel.read_model(asked)  # type: ignore[arg-type]  # a file or a mapping
    model.check([*roles.of("quasi"), *roles.of(*AS_IT_IS)], roles.of(*AS_IT_IS))
    return model


def analyse_fit(
    source: Source,
    roles: Roles,
    options: FitOptions,
    space: PolicySpace,
    found: tuple[Frontier, PolicyFamily],
    marks: Mapping[str, Policy],
    rng: np.random.Generator,
    progress: ProgressHook,
) -> SourceAnalysis | None:
    """Run the requested analysis on the policies that a fit found, or return None."""
    if options.analysis is None:
        return None
    model = read_model(options, roles)
    rows: AnalysedRows
    if model is None:
        kept = roles.of(*AS_IT_IS)
        function = options.analysis
        rows = read_own(source, function, space.domains, kept, roles.subject, rng)  # type: ignore[arg-type]
    else:
        rows = read_rows(source, model, space.domains, roles.subject, rng)
    return analyse(
        rows,
        space,
        *found,
        marks,
        lambda at, of: progress("fitting the analysis to each policy", at, of),
    )
