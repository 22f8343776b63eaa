"""Choosing where the frontier bends most: a policy of some feature."""

from __future__ import annotations

import pyarrow as pa

from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.itemsets.verbs.choose import choose
from voile.itemsets.verbs.fit import fit
from voile.itemsets.verbs.options import FitOptions
from voile.release.choice import Choice

BASKETS = ["tea milk salt"] * 2 + ["tea milk"] * 4 + ["tea"] * 8


def test_at_the_knee_little_is_lost_for_much_less_risk():
    """Tea and milk lose little at a third of the risk of all three."""
    roles = Roles.model_validate({"columns": {"basket": {"role": "items", "as": "words"}}})
    source = open_source(pa.table({"basket": BASKETS}))
    kit = fit(source, roles, FitOptions(k=(2, 6)), seed=1, progress=silent)
    chosen = choose(kit, Choice(knee=True))
    assert chosen.policy["features"] == ["basket=milk", "basket=tea"]
