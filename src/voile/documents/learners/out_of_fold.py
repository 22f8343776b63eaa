"""Margins of documents by classifiers that did not learn from these documents or their subjects."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from voile.documents.learners.learner import LabelledExamples
from voile.documents.model.classifiers.classifier import Margins, TokenClassifier


def margins_out_of_fold(
    fit: Callable[[LabelledExamples], TokenClassifier],
    examples: LabelledExamples,
    folds: int,
    seed: int,
) -> Margins:
    """Return margins for each token, (n, T), by a classifier that did not see its subject.

    If there is only one fold, the classifier has seen the subject. Cost: `folds` fits.
    """
    part = deal_subjects(examples, folds, seed)
    if part.max(initial=0) == 0:
        return fit(examples).margins(examples)
    of_token = np.repeat(part, np.diff(examples.first))
    margins = np.zeros((len(examples.labels), examples.types))
    for fold in range(int(part.max()) + 1):
        classifier = fit(examples.of(part != fold))
        margins[of_token == fold] = classifier.margins(examples.of(part == fold))
    return margins


def deal_subjects(examples: LabelledExamples, folds: int, seed: int) -> NDArray[np.intp]:
    """Assign the documents to `folds` random folds by subject, (d,), numbered from 0."""
    documents = np.arange(len(examples.first) - 1)
    subject = examples.subject if len(examples.subject) else documents
    _, number = np.unique(subject, return_inverse=True)
    subjects = int(number.max(initial=-1)) + 1
    dealt = np.random.default_rng(seed).permutation(subjects) % max(folds, 1)
    return np.asarray(dealt[number], dtype=np.intp)


def classes_by_own_rule(margins: Margins) -> NDArray[np.int16]:
    """Return the class of each token by the classifier's own rule.

    The class is the type with the highest margin, or 0 if no margin is positive.
    """
    if not margins.shape[1]:
        return np.zeros(len(margins), np.int16)
    positive = margins.max(axis=1) > 0
    return np.where(positive, margins.argmax(axis=1) + 1, 0).astype(np.int16)
