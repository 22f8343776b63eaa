"""The predictions of an open model for a text, from any kind of folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Kind = Literal["onnx", "spacy"]
FAR = 8.0
"""Log-odds beyond this are alike."""
MARKS: dict[Kind, str] = {"onnx": "model.onnx", "spacy": "config.cfg"}
"""The file by which a folder's kind is known."""


@dataclass(frozen=True, eq=False)
class ModelPieces:
    """The predictions of a model for p parts of a text, in its own K types."""

    # starts, ends: (p,) characters
    starts: NDArray[np.intp]
    ends: NDArray[np.intp]
    odds: NDArray[np.float32]  # (p, K) log-odds of each type, from -FAR to FAR


class ModelReader(Protocol):
    """A model that is open."""

    @property
    def types(self) -> Sequence[str]:
        """The K types that it knows, by name; not "O", which is none of them."""

    def read_text(self, text: str) -> ModelPieces:
        """Return the predictions for a text."""
