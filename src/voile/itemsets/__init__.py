"""Features of sparse 0/1 rows that may be shared, chosen under k-anonymity by containment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.itemsets.containment import anonymity, exposure, row_anonymity
    from voile.itemsets.feasible import Constraint
    from voile.itemsets.flipping import RandomFlipping
    from voile.itemsets.incidence import Incidence
    from voile.itemsets.matrices import matrix_source
    from voile.itemsets.private_release import ExponentialRelease, LaplaceRelease
    from voile.itemsets.searches import Selection, select
    from voile.itemsets.selector import ContainmentSelector
    from voile.itemsets.utility import distcnt, hamdist

__all__ = [
    "Constraint",
    "ContainmentSelector",
    "ExponentialRelease",
    "Incidence",
    "LaplaceRelease",
    "RandomFlipping",
    "Selection",
    "anonymity",
    "distcnt",
    "exposure",
    "hamdist",
    "matrix_source",
    "row_anonymity",
    "select",
]

__getattr__ = lazily(
    __name__,
    {
        "Constraint": "feasible",
        "ContainmentSelector": "selector",
        "ExponentialRelease": "private_release",
        "Incidence": "incidence",
        "LaplaceRelease": "private_release",
        "RandomFlipping": "flipping",
        "Selection": "searches",
        "anonymity": "containment",
        "distcnt": "utility",
        "exposure": "containment",
        "hamdist": "utility",
        "matrix_source": "matrices",
        "row_anonymity": "containment",
        "select": "searches",
    },
)
