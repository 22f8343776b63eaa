"""The algorithm on texts of three words that are names, and learners of one of them each."""

from __future__ import annotations

import numpy as np
from tests.documents.made import Says

from voile.core.progress import silent
from voile.documents.fitting.loop.fits import StoredFits
from voile.documents.fitting.loop.greedy import sanitize_greedily
from voile.documents.fitting.loop.training import costs_by_type


def loop_of(training, learners, cost=10, decision="accuracy", folds=4, **given_):
    """Run the algorithm, by documents; `least_left` is 1 unless given."""
    documents = len(training.subject)
    fits = StoredFits(
        training,
        {one.name: one for one in learners},
        seeds={one.name: 1 for one in learners},
        folds=None if folds is None else np.arange(documents) % folds,
        folder=given_.pop("folder", None),
    )
    return sanitize_greedily(
        fits,
        costs_by_type(cost, training.labels),
        decision=decision,
        max_passes=given_.pop("max_passes", 20),
        progress=silent,
        least_left=given_.pop("least_left", 1),
    )


# 8 documents: 8 times Ana, 8 times Leo, 8 times May, which is 16 times harmless
TEXTS = ["Ask Ana/NAME and Leo/NAME in May . May/NAME said May ."] * 8
ANA, LEO, MAY = (Says(((word, 1),), f"says {word}") for word in ("Ana", "Leo", "May"))
