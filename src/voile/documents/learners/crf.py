"""Conditional random fields: CRFsuite trains them, and the module `chain` decodes."""

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
    """A linear-chain conditional random field over whole documents (Lafferty et al., 2001).

    Marks are harmless tokens in the chain, so that their neighbours learn from them. Unknown tokens
    are in no chain: they divide a document into several chains.

    c1, c2 : the L1 and L2 penalties of the weights, at least 0.
    iterations : the most iterations of L-BFGS.
    cost_sensitive : whether the threshold on the marginal of each type is C / (C + L) instead of
        1/2.

    Cost: O(iterations x (ones in the matrix x labels + n labels^2)). On one core, 275,000 tokens
    take 20 s with 3 labels and 40 s with 23.
    """

    c1: float = 0.0
    c2: float = 1.0
    iterations: int = 50
    cost_sensitive: bool = False

    @property
    def name(self) -> str:
        return "crf-cost" if self.cost_sensitive else "crf"

    def fit(self, examples: LabelledExamples, *, seed: int = 0) -> CrfClassifier:
        """Learn from whole documents. The algorithm is deterministic, so the seed has no effect."""
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
    """Yield the start and end of each run of known tokens within a document."""
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
    """Parse a section of CRFsuite's dump with lines such as "(0) 12 --> 1: 0.345600"."""
    start = text.index(f"{name} = {{\n") + len(name) + 5
    lines = text[start : text.index("}", start)]
    numbers = re.sub(r"\(\d\)|-->|:", " ", lines)
    one = np.array(numbers.split(), dtype=np.float64).reshape(-1, 3)
    return one[:, 0].astype(np.intp), one[:, 1].astype(np.intp), one[:, 2]
