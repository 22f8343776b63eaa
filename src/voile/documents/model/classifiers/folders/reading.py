"""The predictions of an open model for a text, for any kind of folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Kind = Literal["onnx", "spacy"]
FAR = 8.0
"""The bound of log-odds; larger log-odds are clipped."""
MARKS: dict[Kind, str] = {"onnx": "model.onnx", "spacy": "config.cfg"}
"""The file that identifies the kind of a folder."""


@dataclass(frozen=True, eq=False)
class ModelPieces:
    """The predictions of a model for p parts of a text, in its own K types."""

    # starts, ends: (p,) character offsets
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]
    odds: NDArray[np.float32]  # (p, K) log-odds of each type, from -FAR to FAR


class ModelReader(Protocol):
    """An open model."""

    @property
    def types(self) -> Sequence[str]:
        """The names of the model's K types, without "O"."""

    def read_text(self, text: str) -> ModelPieces:
        """Return the predictions for a text."""
