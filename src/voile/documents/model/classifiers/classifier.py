"""The protocol of a classifier of tokens, and its view of the text.

A classifier gives *margins*, a number for each token and type. A higher margin means more certainty
that the token is of that type. The margin is above 0 if the classifier's own rule assigns the type
to the token.
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
    """A classifier's view of the n tokens of d documents."""

    @property
    def first(self) -> NDArray[np.intp]:
        """The first token of each document, (d + 1,); a document is one sequence."""

    @property
    def matrix(self) -> sp.csr_array:
        """The columns of the tokens, a 0/1 matrix of (n, columns)."""

    @property
    def words(self) -> Sequence[str]:
        """The forms of the tokens, (n,), including marks."""

    @property
    def form(self) -> NDArray[np.int32]:
        """The numbers of the forms, (n,)."""

    @property
    def gap(self) -> NDArray[np.uint8]:
        """The gap before each token, (n,): see `words.tokens.TokenLayout`; empty if unknown."""

    def scores(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return ``matrix @ weights``, (n, outputs).

        Repeated calls with the same array object are fast.
        """


class TokenClassifier(Protocol):
    """A trained classifier of tokens."""

    def margins(self, sight: TokenSight) -> Margins:
        """Return the margin of each type for each token, (n, T)."""


@runtime_checkable
class SaveableClassifier(TokenClassifier, Protocol):
    """A classifier that a kit can store, as arrays without pickled objects.

    saved_as : the name of its type in kits.
    """

    saved_as: ClassVar[str]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the whole classifier as arrays."""

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> SaveableClassifier:
        """Create a classifier from arrays, without running any code in them."""


def check_margins(
    margins: Margins, learner: str, shape: tuple[int, int], *, numbers: bool = True
) -> Margins:
    """Return a classifier's margins, after checking their shape and that none is NaN.

    A token with the margin NaN would not be removed.

    Raises
    ------
    RequestError : the shape differs, or a margin is NaN.
    """
    if np.shape(margins) != shape or (numbers and np.isnan(margins).any()):
        raise RequestError(
            f"the classifier of {learner} gives no number for each token and type",
            instead="have it return margins of shape (tokens, types) without NaN",
        )
    return margins
