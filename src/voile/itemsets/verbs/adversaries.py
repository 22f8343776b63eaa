"""`voile itemsets adversaries`: what each adversary costs, before a kit is fitted against one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from voile.core.errors import InfeasibleError
from voile.core.wording import count
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
from voile.report.wording import listed


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
        progress("choosing against each adversary", 0)

        def choose(one: Constraint) -> Selection:
            return family.best(one, np.random.default_rng(options.seed))

        found = list(against(family.incidence, family.classifying, asked, choose))
    if not found:
        raise InfeasibleError("no item may be published for any k", instead="use a smaller k")
    for one in found:
        reporter.insist(_in_words(one, known))
    return Ended({"m": known, "adversaries": [asdict(one) for one in found]})


def _in_words(one: Against, known: Sequence[Known]) -> str:
    r"""Say what a choice publishes and what it is worth against each adversary.

    >>> said = _in_words(Against(2, 5, 31, 0.851, 0.004, (9, 5, 1)), (1, 2, None))
    >>> print(said.replace("; ", "\n"))
    knows 2 items, k = 5: 31 features, AUC 0.85, 0.4% of rows unique
    k reached against 1, 2 and all items: 9, 5 and 1
    """
    who = "all items" if one.m is None else count(one.m, "item")
    auc = "" if one.auc is None else f"AUC {one.auc:.2f}, "
    ms = listed(["all" if m is None else str(m) for m in known])
    return (
        f"knows {who}, k = {one.k:,}: {count(one.features, 'feature')}, {auc}"
        f"{one.unique_share:.1%} of rows unique; k reached against {ms} items: "
        f"{listed([f'{reached:,}' for reached in one.reached])}"
    )
