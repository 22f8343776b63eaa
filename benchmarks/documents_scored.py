"""Every token of a corpus as a committee that did not learn from it has it; each fit is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from benchmarks.data import folder
from benchmarks.documents_data import SOURCES, Source, drawn, kept
from benchmarks.documents_runs import FOLDS, Split, kept_in
from numpy.typing import NDArray

from voile.documents import Corpus
from voile.documents.fitting.loop.fits import StoredFits
from voile.documents.model.committee.committee import TokenCommittee
from voile.documents.words.token_classes import are_signs, token_labels
from voile.documents.words.tokens import LINE

MISS_COST = 10.0


@dataclass(frozen=True, eq=False)
class Scored:
    """The tokens, (n,) each.

    Parameters
    ----------
    document, line : their numbers. truth : whether it is of an identifier. removed : whether the
        committee removes it. scores : how likely it identifies. is_sign : no letter, no digit.
    """

    document: NDArray[np.int64]
    line: NDArray[np.int64]
    truth: NDArray[np.bool_]
    removed: NDArray[np.bool_]
    scores: NDArray[np.float64]
    is_sign: NDArray[np.bool_]


class OneLearner(Split):
    """A split on which only one learner is ever fitted."""

    learner = "svm"

    @property
    def everyone(self) -> StoredFits:  # type: ignore[override]
        return self.fits((self.learner,))


def presidio() -> Corpus:
    """Return made-up sentences with names of persons (Microsoft)."""
    read = Corpus.read(folder("presidio-synthetic-pii") / "synth_dataset_v2.jsonl.gz")
    return kept(drawn(read, 1_000), lambda label: label == "PERSON")


EVERY = {**SOURCES, "presidio-synthetic": Source(presidio)}


def default(name: str, fold: int) -> tuple[Split, TokenCommittee]:
    split = Split(EVERY[name].read(), fold, kept_in(name, fold))
    return split, split.committee("default", MISS_COST)


def svm(name: str, fold: int) -> tuple[Split, TokenCommittee]:
    split = OneLearner(EVERY[name].read(), fold, kept_in(name, fold))
    return split, split.one(split.learner, MISS_COST, cut=True)


def scored(name: str, fit: Callable[[str, int], tuple[Split, TokenCommittee]]) -> Scored:
    """Return the tokens of all folds, each as the committee of the other folds has it."""
    parts = []
    for fold in range(FOLDS):
        path = kept_in(name, fold) / f"tokens {fit.__name__}.npz"
        if not path.exists():
            split, committee = fit(name, fold)
            remover = committee.remover()
            tokens, scores = remover.score_tokens(split.test, unknown=0.0)
            truth = token_labels(tokens, split.test, split.labels) > 0
            line = np.cumsum(tokens.gap >= LINE)
            removed = remover.of(tokens).type > 0
            signs = are_signs(tokens, [one.text for one in split.test])
            np.savez(path, tokens.document, line, truth, removed, scores, signs)
        parts.append([*np.load(path).values()])
    last = [0, 0]
    for part in parts:
        for place in range(2):
            part[place] = part[place] + last[place]
            last[place] = int(part[place].max()) + 1
    return Scored(*(np.concatenate(one) for one in zip(*parts, strict=True)))
