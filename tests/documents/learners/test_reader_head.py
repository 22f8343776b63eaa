"""The head on the reader's vectors: against plain regressions, and on one thread or two."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression
from tests.documents.learners.made import made

from voile.core.errors import RequestError
from voile.documents.learners.reader_head import ReaderLearner, _JointRegression
from voile.documents.model.classifiers.reader_head import ReaderClassifier, score_windows
from voile.documents.reader.encoder import join_neighbours, standardise


def vectors_of(encoder, examples):
    found = encoder.encode(examples.words, examples.gap, examples.first).astype(np.float32)
    mean, spread = standardise(found)
    return (found - mean) / spread


def test_windows_score_as_joined_vectors_do():
    rng = np.random.default_rng(0)
    dense, windows = (rng.normal(size=size).astype(np.float32) for size in ((9, 4), (3, 4, 2)))
    first = np.array([0, 0, 4, 5, 9, 9])
    naive = join_neighbours(dense, first) @ windows.reshape(12, 2)
    np.testing.assert_allclose(score_windows(dense, windows, first), naive, rtol=1e-4, atol=1e-5)


def test_it_is_a_logistic_regression_with_two_penalties(encoder, reader):
    """scikit-learn has one penalty: columns are divided by the roots of ours."""
    examples, other = made(60, noise=0.1), made(15, seed=3)
    learner = ReaderLearner(reader.sha256, reader.layer, 7.0, 0.5, iterations=2000)
    found = learner.fit(examples).margins(other)

    raw = encoder.encode(examples.words, examples.gap, examples.first).astype(np.float32)
    mean, spread = standardise(raw)

    def columns(of):
        own = encoder.encode(of.words, of.gap, of.first).astype(np.float32)
        joined = join_neighbours((own - mean) / spread, of.first)
        return np.hstack([joined / 7.0**0.5, of.matrix.toarray() / 0.5**0.5])

    counted = examples.counted
    for kind in range(2):
        plain = LogisticRegression(C=1.0, tol=1e-8, max_iter=5000)
        plain.fit(columns(examples)[counted], (examples.labels == kind + 1)[counted])
        margins = plain.decision_function(columns(other))
        assert np.abs(found[:, kind] - margins).max() < 0.2


def test_the_slope_is_that_of_the_loss(encoder, reader):
    examples = made(4, noise=0.2)
    learner = ReaderLearner(reader.sha256, reader.layer, 3.0, 2.0)
    problem = _JointRegression(learner, examples, vectors_of(encoder, examples))
    x = np.random.default_rng(0).normal(0, 0.1, problem._parts[-1])
    near = approx_fprime(x, lambda one: problem.loss(one)[0], 1e-3)
    np.testing.assert_allclose(problem.loss(x)[1], near, rtol=0.05, atol=0.1)


def test_it_needs_the_reader_that_it_learnt_on(reader, monkeypatch):
    classifier = ReaderLearner.from_installed().fit(made(20))
    other = ReaderClassifier.from_arrays({**classifier.to_arrays(), "layer": np.array(3)})
    with pytest.raises(RequestError, match=r"this needs layer 3 of the reader .* and layer 2 of"):
        other.margins(made(2))
    monkeypatch.setenv("VOILE_READER", os.devnull)
    with pytest.raises(RequestError, match="this needs a reader, and none is installed; install"):
        classifier.margins(made(2))
    with pytest.raises(RequestError, match="the learner reader needs a reader; install it with"):
        ReaderLearner.from_installed()


PROGRAM = """
import hashlib
from tests.documents.learners.made import made
from voile.documents.learners.reader_head import ReaderLearner
head = ReaderLearner.from_installed().fit(made(200, length=30, noise=0.1))
arrays = {**head.to_arrays(), "margins": head.margins(made(50, seed=2, length=30))}
print(hashlib.sha256(b"".join(arrays[name].tobytes() for name in sorted(arrays))).hexdigest())
"""


def test_one_thread_and_two_give_the_same_bytes(reader):
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    found = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, **dict.fromkeys(names, threads), "PYTHONPATH": os.getcwd()},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(found) == 1
