"""Support vector machines for several types, beside scikit-learn's for one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from voile.documents.learners.hyperplanes import fit_hyperplanes


def objective(matrix, positive, weight, C, w, b):
    """Return what a machine minimises: half its squared weights, and its squared errors."""
    signs = np.where(positive, 1, -1)
    errors = np.maximum(0, 1 - signs * (matrix @ w + b)) ** 2
    return 0.5 * (w @ w + b * b) + C * (np.where(positive, weight, 1) * errors).sum()


@pytest.mark.parametrize("seed", range(6))
def test_each_type_is_solved_as_by_a_machine_of_its_own(seed):
    rng = np.random.default_rng(seed)
    matrix = sp.random_array((300, 40), density=0.2, format="csr", rng=rng, dtype=np.float32)
    labels = (rng.random(300) < 0.4) * rng.integers(1, 4, 300)
    costs = np.array([1.0, 5.0, 0.5])
    weights, bias = fit_hyperplanes(matrix, labels.astype(np.int16), costs, 0.1, seed)
    for kind, cost in enumerate(costs):
        positive = labels == kind + 1
        best = LinearSVC(C=0.1, tol=1e-8, max_iter=100_000, class_weight={True: cost})
        best.fit(matrix, positive)
        least = objective(matrix, positive, cost, 0.1, best.coef_[0], best.intercept_[0])
        own = objective(matrix, positive, cost, 0.1, weights[:, kind], bias[kind])
        assert own <= 1.01 * least


def test_a_type_of_no_token_is_never_found_and_one_of_every_token_always():
    matrix = sp.csr_array(np.eye(4, dtype=np.float32))
    weights, bias = fit_hyperplanes(matrix, np.full(4, 2, np.int16), np.ones(2), 0.1, 0)
    assert not weights.any()
    assert bias.tolist() == [-1, 1]
