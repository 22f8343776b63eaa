"""The protocol of a classifier of tokens, and the view of the text that it gets.

A classifier gives *margins*, a number for each token and type. The margin is higher if the token is
more surely of that type. It is above 0 if the classifier's own rule takes the token for that type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from voile.core.errors import RequestError

Arrays = Mapping[str, NDArray[Any]]


Margins = NDArray[np.float64]


class TokenSight(Protocol):
    """The n tokens of d documents, as a classifier is shown them."""

    @property
    def first(self) -> NDArray[np.intp]:
        """Where each document's tokens begin, (d + 1,); a document is one sequence."""

    @property
    def matrix(self) -> sp.csr_array:
        """The tokens' columns, (n, columns) of 0 and 1."""

    @property
    def words(self) -> Sequence[str]:
        """The tokens' forms, (n,), marks among them."""

    @property
    def form(self) -> NDArray[np.int32]:
        """The forms' numbers, (n,)."""

    @property
    def gap(self) -> NDArray[np.uint8]:
        """The gap before each token, (n,): see `words.tokens.Layout`; empty where unknown."""

    def scores(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return ``matrix @ weights``, (n, outputs); the same array object each time is quick."""


class TokenClassifier(Protocol):
    """A trained classifier of tokens."""

    def margins(self, sight: TokenSight) -> Margins:
        """Return each token's margin for each type, (n, T)."""


@runtime_checkable
class SaveableClassifier(TokenClassifier, Protocol):
    """A classifier that a kit can hold: arrays without pickled objects.

    saved_as : the name of its type in kits.
    """

    saved_as: ClassVar[str]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return all of it as arrays of numbers."""

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> SaveableClassifier:
        """Read it back; nothing in the arrays is run."""


def check_margins(
    margins: Margins, learner: str, shape: tuple[int, int], *, numbers: bool = True
) -> Margins:
    """Return a classifier's margins; refuse another shape, or NaN, which would keep its token."""
    if np.shape(margins) != shape or (numbers and np.isnan(margins).any()):
        raise RequestError(
            f"the classifier of {learner} gives no number for each token and type",
            instead="have it return margins of shape (tokens, types) without NaN",
        )
    return margins
