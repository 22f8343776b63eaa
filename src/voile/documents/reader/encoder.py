"""Encode tokens as vectors of their context.

The text passes through the encoder in windows of word pieces. Each piece is taken from the window
with the most context around it. The vector of a token is the mean of its pieces' vectors. Each
window runs by itself on one thread, so that the vectors of a document depend only on the document.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.lazy import library
from voile.documents.reader.windows import PIECES, POSITIONS, VECTORS, place_windows
from voile.documents.text.document import Document
from voile.documents.words.texts import rebuild_texts
from voile.documents.words.tokens import tokenise

WINDOW = 126
"""The word pieces in a window, without the special pieces that begin and end a text."""
Vectors = NDArray[np.float32]


class TextEncoder:
    """An open encoder with a cache of the vectors of documents, which fits request again."""

    MOST_BYTES = 2**29

    def __init__(self, session: Any, tokenizer: Any, width: int) -> None:
        self._session, self._tokenizer, self.width = session, tokenizer, width
        around = tokenizer.encode("A")
        special = np.flatnonzero(~np.array(around.special_tokens_mask, dtype=np.bool_))
        self._before = np.array(around.ids[: special[0]], np.int64)
        self._after = np.array(around.ids[special[-1] + 1 :], np.int64)
        self._held: dict[bytes, NDArray[np.float16]] = {}
        self._bytes = 0

    @classmethod
    def open(cls, graph: Path, tokenizer: Path, width: int) -> TextEncoder:
        """Open an encoder from files.

        Raises
        ------
        RequestError : the files are not a graph and a tokenizer, or a library is absent.
        """
        runtime, tokenizers = library("onnxruntime", "reader"), library("tokenizers", "reader")
        runtime.disable_telemetry_events()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # its messages may contain the input
        try:
            read = tokenizers.Tokenizer.from_file(str(tokenizer))
            session = runtime.InferenceSession(
                str(graph), options, providers=["CPUExecutionProvider"]
            )
        except Exception:  # the libraries raise no narrower exception
            raise RequestError(
                "ONNX Runtime or tokenizers cannot open the reader",
                where=str(graph.parent),
                instead="install it again: voile documents reader install SOURCE",
            ) from None
        read.no_truncation()
        read.no_padding()
        return cls(session, read, width)

    def encode(
        self, words: Sequence[str], gap: NDArray[np.uint8], first: NDArray[np.intp]
    ) -> NDArray[np.float16]:
        """Return the vectors of the tokens of d documents, (n, width).

        words, gap : (n,), the forms of the tokens, and the gap before each; `gap` is empty if
            unknown.
        first : (d + 1,), the first token of each document.

        Cost: one run of the encoder for each 94 word pieces. Cached documents cost nothing.
        """
        found = np.zeros((len(words), self.width), np.float16)
        for part, text, starts, ends in rebuild_texts(words, gap, first):
            key = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16)
            key.update(starts.tobytes())
            vectors = self._held.get(key.digest())
            if vectors is None:
                vectors = self._encode_document(text, starts, ends)
                self._remember(key.digest(), vectors)
            found[part] = vectors
        return found

    def _remember(self, key: bytes, vectors: NDArray[np.float16]) -> None:
        if self._bytes > self.MOST_BYTES:
            self._held, self._bytes = {}, 0
        self._held[key] = vectors
        self._bytes += vectors.nbytes

    def _encode_document(
        self, text: str, starts: NDArray[np.intp], ends: NDArray[np.intp]
    ) -> NDArray[np.float16]:
        pieces = self._tokenizer.encode(text, add_special_tokens=False)
        numbers = np.array(pieces.ids, np.int64)
        places = np.array(pieces.offsets, np.intp).reshape(-1, 2)
        room = WINDOW
        parts = [
            self._run(numbers[window])[own] for window, own in place_windows(len(numbers), room)
        ]
        vectors = np.concatenate([np.zeros((0, self.width), np.float32), *parts])
        return mean_of_pieces(vectors, places, starts, ends).astype(np.float16)

    def _run(self, numbers: NDArray[np.int64]) -> Vectors:
        """Return the vectors of the pieces of a window, (p, width)."""
        whole = np.concatenate([self._before, numbers, self._after])
        feed = {PIECES: whole, POSITIONS: np.arange(len(whole))}
        found = np.asarray(self._session.run([VECTORS], feed)[0])
        return found[len(self._before) : len(whole) - len(self._after)]


def mean_of_pieces(
    vectors: Vectors,
    places: NDArray[np.intp],
    starts: NDArray[np.intp],
    ends: NDArray[np.intp],
) -> Vectors:
    """Return the mean vector of the pieces that overlap each token; zeros if there are none.

    vectors, places : (p, width) and (p, 2), the vectors and the character offsets of the pieces, in
        their order.
    starts, ends : (n,), the character offsets of the tokens.
    """
    low = np.searchsorted(places[:, 1], starts, side="right")
    high = np.maximum(np.searchsorted(places[:, 0], ends, side="left"), low)
    sums = np.zeros((len(vectors) + 1, vectors.shape[1]))
    np.cumsum(vectors, axis=0, dtype=np.float64, out=sums[1:])
    count = np.maximum(high - low, 1)[:, None]
    return np.asarray((sums[high] - sums[low]) / count, np.float32)


def standardise(vectors: NDArray[np.floating]) -> tuple[Vectors, Vectors]:
    """Return the mean and the standard deviation of each column, (width,).

    The standard deviation is at least 1e-6.
    """
    if not len(vectors):
        return np.zeros(vectors.shape[1], np.float32), np.ones(vectors.shape[1], np.float32)
    wide = vectors.astype(np.float32)
    mean, spread = wide.mean(axis=0, dtype=np.float64), wide.std(axis=0, dtype=np.float64)
    return mean.astype(np.float32), np.maximum(spread, 1e-6).astype(np.float32)


def join_neighbours(vectors: Vectors, first: NDArray[np.intp]) -> Vectors:
    """Return the vectors of the token before, the token and the token after, (n, 3 x width).

    The first token of a document has zeros before it, and the last has zeros after it.

    >>> join_neighbours(np.float32([[1], [2], [3]]), np.array([0, 2, 3])).tolist()
    [[0.0, 1.0, 2.0], [1.0, 2.0, 0.0], [0.0, 3.0, 0.0]]
    """
    before, after = np.zeros_like(vectors), np.zeros_like(vectors)
    before[1:], after[:-1] = vectors[:-1], vectors[1:]
    begins = first[:-1][np.diff(first) > 0]
    before[begins] = 0
    after[begins[1:] - 1] = 0
    return np.concatenate([before, vectors, after], axis=1)


def encode_tokens(corpus: Iterable[Document], encoder: TextEncoder) -> Vectors:
    """Return the standardised vectors of a corpus's tokens and their neighbours, (n, 3 x width)."""
    tokens = tokenise(document.text for document in corpus)
    words = [tokens.forms[number] for number in tokens.form]
    vectors = encoder.encode(words, tokens.gap, tokens.first)
    mean, spread = standardise(vectors)
    return join_neighbours((vectors.astype(np.float32) - mean) / spread, tokens.first)
