"""A source as features to choose from: read once for their names, once for the rows, then cut."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voile.core.progress import Progress
from voile.data import Source
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.itemsets.rows.forms import Form
from voile.itemsets.rows.sources import RowReader, Rows
from voile.itemsets.verbs.family import to_try
from voile.itemsets.verbs.intervals import Layers, with_intervals
from voile.itemsets.verbs.options import FitOptions


@dataclass(frozen=True, eq=False)
class Encoded:
    """What was read of a source, and how: the rows, each column's form, intervals for each k."""

    reader: RowReader
    rows: Rows
    forms: tuple[Form, ...]
    layers: Layers

    @classmethod
    def of(
        cls,
        source: Source,
        roles: Roles,
        options: FitOptions,
        *,
        rng: np.random.Generator,
        progress: Progress,
    ) -> Encoded:
        """Read the rows that are not held out, and cut columns of numbers for each k.

        Two passes; memory O(rows + ones).
        """
        hold_out = HoldOut(options.hold_out, rng.bytes(32), roles.subject)
        reader = RowReader(roles, hold_out, "drop" if options.drop_unlabelled else "refuse")
        reader.check(source)
        progress("reading the columns", 0)
        reader = reader.with_target(source, options.target_bins)
        forms = reader.learn(source)
        progress("reading the rows", 0)
        rows = reader.read(source, forms)
        progress("cutting columns of numbers", 0)
        ks = to_try(options, rows.incidence.n_subjects)
        return cls(reader, *with_intervals(rows, forms, ks))
