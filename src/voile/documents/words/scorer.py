"""Score tokens by linear weights, gathered from tables of their forms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.documents.words.features import BLOCKS, FeatureExtractor, TokenFeatures, channel_size
from voile.documents.words.kernels import add_rows, add_weights
from voile.documents.words.tokens import NOWHERE


class TokenScorer:
    """A scorer of tokens by linear weights of shape (columns, outputs).

    Its scores equal those of ``features.matrix @ weights``.

    Cost: O(tokens x blocks x outputs), and once O(attributes x outputs) for each new form.
    """

    def __init__(self, extractor: FeatureExtractor, weights: NDArray[np.floating]) -> None:
        if weights.ndim != 2 or len(weights) != len(extractor.space.columns):
            raise RequestError("a classifier's weights are not of the features' columns")
        self._extractor, self.weights = extractor, weights
        self._float32 = np.ascontiguousarray(weights, dtype=np.float32)
        self._done = 0
        self._tables = [self._table(block) for block in range(len(BLOCKS))]

    @property
    def bytes(self) -> int:
        return sum(table.nbytes for table in self._tables)

    def __call__(self, features: TokenFeatures) -> NDArray[np.float32]:
        """Return the scores of the tokens, (n, outputs)."""
        self._grow()
        out = np.zeros((len(features.tokens), self._float32.shape[1]), np.float32)
        for block, table in enumerate(self._tables):
            if len(table):
                add_rows(*features.sight(block), table, out)
        return out

    def _table(self, block: int) -> NDArray[np.float32]:
        channel = BLOCKS[block][0]
        size = 0 if channel == "words" else channel_size(channel, self._extractor.space)
        table = np.zeros((size, self._float32.shape[1]), np.float32)
        columns = self._extractor.space.by_block[block]
        if size and (columns != NOWHERE).any():
            table[columns != NOWHERE] = self._float32[columns[columns != NOWHERE]]
        return table

    def _grow(self) -> None:
        forms = len(self._extractor.classes)
        if forms == self._done:
            return
        rows = self._extractor.rows(self._done)
        for block, (channel, _, _) in enumerate(BLOCKS):
            if channel == "words":
                table = _with_room(self._tables[block], forms)
                columns = self._extractor.space.by_block[block]
                add_weights(
                    rows.indptr, rows.indices, columns, self._float32, table[self._done : forms]
                )
                self._tables[block] = table
        self._done = forms


def _with_room(table: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    """Return a table with at least `size` rows; a larger table has at least twice the old rows."""
    if size <= len(table):
        return table
    larger = np.zeros((max(size, 2 * len(table)), table.shape[1]), np.float32)
    larger[: len(table)] = table
    return larger
