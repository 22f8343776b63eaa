"""Conditional random fields: CRFsuite learns, decoding is by `chain`."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from voile.documents.learners.learner import LabelledExamples
from voile.documents.model.classifiers.crf import CrfClassifier


@dataclass(frozen=True)
class CRF:
    """Linear-chain conditional random field over whole documents (Lafferty et al., 2001).

    Marks stand in the chain as harmless tokens, so that their neighbours learn from them. Unknown
    tokens stand in none: a document is learnt from as the chains between them.

    c1, c2 : penalties of the weights' absolute values and squares, at least 0.
    iterations : of L-BFGS, at most.
    cost_sensitive : cut the marginal of each type at C / (C + L) rather than at 1/2.

    Cost: O(iterations x (ones in the matrix x labels + n labels^2)); 275,000 tokens take 20 s on
    one core with 3 labels, 40 s with 23.
    """

    c1: float = 0.0
    c2: float = 1.0
    iterations: int = 50
    cost_sensitive: bool = False

    @property
    def name(self) -> str:
        return "crf-cost" if self.cost_sensitive else "crf"

    def fit(self, examples: LabelledExamples, *, seed: int = 0) -> CrfClassifier:
        """Learn from whole documents; nothing is drawn, so the seed changes nothing."""
        labels = np.unique(examples.labels)
        shift = np.log(examples.costs) if self.cost_sensitive else np.zeros(examples.types)
        if len(labels) < 2:
            weights = np.zeros((examples.matrix.shape[1], len(labels)), np.float32)
            return CrfClassifier(weights, np.zeros((len(labels),) * 2), labels, shift)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "crf"
            self._train(examples, path)
            return CrfClassifier(
                *_export_weights(path, labels, examples.matrix.shape[1]), labels, shift
            )

    def _train(self, examples: LabelledExamples, path: Path) -> None:
        from pycrfsuite import ItemSequence, Trainer

        trainer = Trainer(algorithm="lbfgs", verbose=False)
        trainer.set_params({"c1": self.c1, "c2": self.c2, "max_iterations": self.iterations})
        matrix = examples.matrix
        items = [str(column).encode() for column in range(matrix.shape[1])]
        names = [str(label) for label in range(examples.types + 1)]
        for start, end in chains(examples):
            bounds = matrix.indptr[start : end + 1]
            columns = matrix.indices[bounds[0] : bounds[-1]].tolist()
            cuts = (bounds - bounds[0]).tolist()
            seen = [items[column] for column in columns]
            rows = [seen[a:b] for a, b in pairwise(cuts)]
            trainer.append(ItemSequence(rows), [names[y] for y in examples.labels[start:end]])
        trainer.train(str(path))


def chains(examples: LabelledExamples) -> Iterator[tuple[int, int]]:
    """Yield where each run of tokens of a document begins and ends that has no unknown one."""
    for start, end in pairwise(examples.first.tolist()):
        gaps = np.flatnonzero(examples.unknown[start:end]) + start
        cuts = [start - 1, *gaps.tolist(), end]
        yield from ((a + 1, b) for a, b in pairwise(cuts) if b > a + 1 or not len(gaps))


def _export_weights(
    path: Path, labels: NDArray[np.int16], columns: int
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    from pycrfsuite import Tagger

    text_file = path.with_suffix(".txt")
    tagger = Tagger()
    with tagger.open(str(path)):
        tagger.dump(str(text_file))
    text = text_file.read_text(encoding="ascii")
    states = np.zeros((columns, len(labels)), np.float32)
    item, label, weight = _section(text, "STATE_FEATURES")
    states[item, np.searchsorted(labels, label)] = weight
    transitions = np.zeros((len(labels), len(labels)))
    before, label, weight = _section(text, "TRANSITIONS")
    transitions[np.searchsorted(labels, before), np.searchsorted(labels, label)] = weight
    return states, transitions


def _section(
    text: str, name: str
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Read a section of CRFsuite's dump, whose lines are as "(0) 12 --> 1: 0.345600"."""
    start = text.index(f"{name} = {{\n") + len(name) + 5
    lines = text[start : text.index("}", start)]
    numbers = re.sub(r"\(\d\)|-->|:", " ", lines)
    one = np.array(numbers.split(), dtype=np.float64).reshape(-1, 3)
    return one[:, 0].astype(np.intp), one[:, 1].astype(np.intp), one[:, 2]
