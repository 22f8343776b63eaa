"""Fit a table without quasi-identifiers: events of people whom another table generalises."""

from __future__ import annotations

import numpy as np

from voile.core.errors import RequestError
from voile.core.frontier import Frontier
from voile.data import Source
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.engines.counting import count_combinations
from voile.release.kit import StoredKit
from voile.tables.fitting.fit import check_kept, constraints_of
from voile.tables.fitting.forests import join_frontiers
from voile.tables.fitting.reach import refuse_unreachable
from voile.tables.fitting.space import PolicySpace
from voile.tables.people.counts import CombinationCounts
from voile.tables.people.population import from_sample
from voile.tables.scoring.group_measures import information, matches
from voile.tables.scoring.named_measures import Kind
from voile.tables.verbs.content import RequestedMeasure, TablesContent
from voile.tables.verbs.options import FitOptions


def open_kept_space(source: Source, roles: Roles, options: FitOptions) -> PolicySpace:
    """Count the subjects of a table without quasi-identifiers, who form one group.

    Raises
    ------
    RequestError : a column has no role, or there is no subject column.
    InfeasibleError : there are fewer subjects than k.
    """
    roles.check(source.columns, "quasi")
    check_kept(roles)
    if roles.subject is None:
        raise RequestError("a table of events needs a subject", where=source.name)
    codes = np.zeros((1, 0), np.int32)
    subjects = np.array([float(len(count_combinations(source, [roles.subject])))])
    counts = CombinationCounts((), codes, subjects, subjects, np.zeros((1, 0)))
    constraints = constraints_of(options)
    refuse_unreachable(counts, constraints, ())
    return PolicySpace((), counts, constraints, from_sample(codes, subjects))


def fit_kept(source: Source, roles: Roles, options: FitOptions) -> StoredKit:
    """Return the kit of a table with only kept and dropped columns. It has one policy.

    The kit gives no guarantee for the kept values.

    Raises
    ------
    RequestError, InfeasibleError : see `open_kept_space`.
    """
    space = open_kept_space(source, roles, options)
    only = Frontier.of([1.0], [0.0], np.zeros((1, 0), np.bool_))
    frontier, family, figures = join_frontiers(space, only, None)
    asked: dict[Kind, RequestedMeasure] = {
        "risk": RequestedMeasure.of("matches", matches()),
        "loss": RequestedMeasure.of("information", information()),
    }
    content = TablesContent(
        space,
        family,
        frontier,
        figures,
        roles,
        HoldOut(0.0, b"", roles.subject),
        sensitive=(),
        outcomes=(),
        measures=asked,
        marks={},
        mark_scores={},
        absent={},
        fraction=None,
        found={"method": "none", "evaluations": 0, "stopped": "finished"},
    )
    return content.to_kit()
