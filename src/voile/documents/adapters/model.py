"""A trained model of the user's own as a learner: what it says, weighed by the user's own text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from voile.documents.adapters.model_folder import ModelFolder
from voile.documents.adapters.reading import FAR, Kind, ModelPieces
from voile.documents.learners.arrays import misfit, take
from voile.documents.learners.calibration import fit_regressions
from voile.documents.learners.learner import Arrays, LabelledExamples, Margins, TokenSight
from voile.documents.words.texts import rebuild_texts

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ExternalModel:
    """A model that is taken as it is; what is learnt is how far to trust it.

    A logistic regression for each type weighs the log-odds of all types of the model, so that
    neither its types nor how sure it is need be the text's.
    """

    cost_sensitive: ClassVar[bool] = False

    name: str
    model: ModelFolder

    @classmethod
    def of(cls, name: str, folder: str) -> ExternalModel:
        """Return the model of a folder, which is opened; `RequestError` where it is none."""
        model = ModelFolder.of(folder)
        model.open()
        return cls(name, model)

    def fit(self, examples: LabelledExamples, *, seed: int = 0) -> ModelClassifier:
        odds = odds_of(self.model, examples)
        shape = (len(odds), examples.types, odds.shape[1])
        trust, bias = fit_regressions(np.broadcast_to(odds[:, None], shape), examples)
        return ModelClassifier(self.model, trust, bias)


@dataclass(frozen=True, eq=False)
class ModelClassifier:
    saved_as: ClassVar[str] = "model"

    model: ModelFolder
    trust: Floats  # (T, K) weights of the model's types
    bias: Floats  # (T,)

    def margins(self, sight: TokenSight) -> Margins:
        """Return each token's margin for each type, (n, T), in log-odds."""
        if not len(sight.words):
            return np.zeros((0, len(self.bias)))
        odds = odds_of(self.model, sight)
        if odds.shape[1] != self.trust.shape[1]:
            raise misfit("trust")
        return np.asarray(odds @ self.trust.T + self.bias)

    def at(self, folder: str) -> ModelClassifier:
        """Return the same classifier with its model in another place."""
        return replace(self, model=replace(self.model, folder=folder))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what was learnt, and the model's place and hashes; the model stays where it is."""
        names, hashes = zip(*self.model.files, strict=True)
        place = {"folder": np.array(self.model.folder), "model": np.array(self.model.kind)}
        files = {"files": np.array(names), "hashes": np.array(hashes)}
        return {"trust": self.trust, "bias": self.bias, **place, **files}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> ModelClassifier:
        bias = take(arrays, "bias", "f", (None,))
        names = take(arrays, "files", "U", (None,)).tolist()
        hashes = take(arrays, "hashes", "U", (len(names),)).tolist()
        kind: Kind = take(arrays, "model", "U", ()).item()
        if kind not in get_args(Kind):
            raise misfit("model")
        files = tuple(zip(names, hashes, strict=True))
        model = ModelFolder(take(arrays, "folder", "U", ()).item(), kind, files)
        return cls(model, take(arrays, "trust", "f", (len(bias), None)), bias)


def odds_of(model: ModelFolder, sight: TokenSight) -> Floats:
    """Return the log-odds of each of the model's types for each token, (n, K)."""
    reader = model.open()
    found = np.full((len(sight.words), len(reader.types)), -FAR)
    for part, text, starts, ends in rebuild_texts(sight.words, sight.gap, sight.first):
        put_on_tokens(reader.read_text(text), starts, ends, found[part])
    return found


def put_on_tokens(
    pieces: ModelPieces, starts: NDArray[np.intp], ends: NDArray[np.intp], found: Floats
) -> None:
    """Raise each token's log-odds, (n, K), to the highest of the pieces that share a character."""
    first = np.searchsorted(ends, pieces.starts, side="right")
    met = np.searchsorted(starts, pieces.ends, side="left") - first
    met = np.where(pieces.starts < pieces.ends, np.maximum(met, 0), 0)
    offset = np.arange(met.sum()) - np.repeat(np.cumsum(met) - met, met)
    np.maximum.at(found, np.repeat(first, met) + offset, np.repeat(pieces.odds, met, axis=0))
