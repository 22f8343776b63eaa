"""`voile itemsets adversaries`: what each adversary costs, before a kit is fitted against one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from voile.core.errors import InfeasibleError
from voile.data.roles import Roles
from voile.itemsets.against import Against, Known, against
from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.rows.matrix_source import open_source
from voile.itemsets.selection import Selection
from voile.itemsets.verbs.encoded import Encoded
from voile.itemsets.verbs.family import Family, to_try
from voile.itemsets.verbs.options import AdversariesOptions
from voile.keys.random import streams
from voile.release.own_verbs import Ended, Reporter


def compare_adversaries(
    options: AdversariesOptions,
    reporter: Reporter,
    *,
    source: object,
    table: str | None,
    encoding: str | None,
) -> Ended:
    """Choose items against each adversary and for each k; report every choice against all."""
    opened, roles = open_source(source, table=table, encoding=encoding), Roles.parse(options.roles)
    held_out, drawn = streams(options.seed, "hold-out", "folds")
    with reporter.progress() as progress:
        data = Encoded.of(opened, roles, options, rng=held_out, progress=progress)
        known: tuple[Known, ...] = (*sorted(set(options.m)), None)
        family = Family.of(data.rows, options, None, rng=drawn, layers=data.layers)
        asked = [
            Constraint(k, m, options.absences)
            for m in known
            for k in to_try(options, family.incidence.n_subjects)
        ]

        def choose(one: Constraint) -> Selection:
            progress("choosing against each adversary", asked.index(one), len(asked))
            return family.best(one, np.random.default_rng(options.seed))

        found = list(against(family.incidence, family.classifying, asked, choose))
    if not found:
        raise InfeasibleError("no item may be published for any k", instead="use a smaller k")
    rows = [_row(one, known, family.lost(one.utility)) for one in found]
    return Ended({"m": known, "adversaries": [asdict(one) for one in found]}, rows=rows)


def _row(one: Against, known: Sequence[Known], lost: float) -> Mapping[str, object]:
    """Return what a choice publishes and what it is worth against each adversary.

    >>> _row(Against(2, 5, 31, 4.2, 0.851, 0.004, (9, 5, 1)), (1, 2, None), 0.25)["k_against_all"]
    1
    """
    return {
        "knows": _name(one.m),
        "k": one.k,
        "features": one.features,
        "utility_lost": lost,
        "auc": one.auc,
        "unique_share": one.unique_share,
        **{f"k_against_{_name(m)}": reached for m, reached in zip(known, one.reached, strict=True)},
    }


def _name(m: Known) -> str:
    return "all" if m is None else f"{m}"
