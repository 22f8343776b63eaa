"""Select features of sparse 0/1 rows for publication, under k-anonymity by containment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import lazily

if TYPE_CHECKING:
    from voile.itemsets.face import assess, fit
    from voile.itemsets.measures.containment import anonymity, exposure, row_anonymity
    from voile.itemsets.measures.feasibility import Constraint
    from voile.itemsets.measures.utility import distcnt, hamdist
    from voile.itemsets.paper.flipping import RandomFlipping
    from voile.itemsets.paper.private_release import ExponentialRelease, LaplaceRelease
    from voile.itemsets.rows.incidence import Incidence
    from voile.itemsets.rows.matrix_source import matrix_source
    from voile.itemsets.selection import Selection, select
    from voile.itemsets.selector import ContainmentSelector

__all__ = [
    "Constraint",
    "ContainmentSelector",
    "ExponentialRelease",
    "Incidence",
    "LaplaceRelease",
    "RandomFlipping",
    "Selection",
    "anonymity",
    "assess",
    "distcnt",
    "exposure",
    "fit",
    "hamdist",
    "matrix_source",
    "row_anonymity",
    "select",
]

__getattr__ = lazily(
    __name__,
    {
        "assess": "face",
        "fit": "face",
        "Constraint": "measures.feasibility",
        "ContainmentSelector": "selector",
        "ExponentialRelease": "paper.private_release",
        "Incidence": "rows.incidence",
        "LaplaceRelease": "paper.private_release",
        "RandomFlipping": "paper.flipping",
        "Selection": "selection",
        "anonymity": "measures.containment",
        "distcnt": "measures.utility",
        "exposure": "measures.containment",
        "hamdist": "measures.utility",
        "matrix_source": "rows.matrix_source",
        "row_anonymity": "measures.containment",
        "select": "selection",
    },
)
