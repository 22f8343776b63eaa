"""Weigh the predictions of the user's own model by the user's text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from voile.documents.model.classifiers.arrays import misfit, take
from voile.documents.model.classifiers.classifier import Arrays, Margins, TokenSight
from voile.documents.model.classifiers.folders.model_folder import ModelFolder
from voile.documents.model.classifiers.folders.reading import FAR, Kind, ModelPieces
from voile.documents.words.texts import rebuild_texts

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ModelClassifier:
    saved_as: ClassVar[str] = "model"

    model: ModelFolder
    trust: Floats  # (T, K) the weights of the model's types
    bias: Floats  # (T,)

    def margins(self, sight: TokenSight) -> Margins:
        """Return the margin of each type for each token, (n, T), as log-odds."""
        if not len(sight.words):
            return np.zeros((0, len(self.bias)))
        odds = odds_of(self.model, sight)
        if odds.shape[1] != self.trust.shape[1]:
            raise misfit("trust")
        return np.asarray(odds @ self.trust.T + self.bias)

    def at(self, folder: str) -> ModelClassifier:
        """Return the same classifier with its model in another folder."""
        return replace(self, model=replace(self.model, folder=folder))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the learned weights, and the model's folder and hashes."""
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
    """Raise the log-odds of each token, (n, K), to the maximum of the overlapping pieces."""
    first = np.searchsorted(ends, pieces.starts, side="right")
    met = np.searchsorted(starts, pieces.ends, side="left") - first
    met = np.where(pieces.starts < pieces.ends, np.maximum(met, 0), 0)
    offset = np.arange(met.sum()) - np.repeat(np.cumsum(met) - met, met)
    np.maximum.at(found, np.repeat(first, met) + offset, np.repeat(pieces.odds, met, axis=0))
