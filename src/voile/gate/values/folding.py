"""Fold cells to text without case, accents and hidden characters, and decode encoded runs."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote_plus

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.gate.values.kernels.encoded import find_encoded

PLAIN, BASE64, HEX, URL = range(4)
_PERCENT = re.compile(r"[^\s\"'<>]*%[0-9A-Fa-f]{2}[^\s\"'<>]*")


class _CharacterFolds(dict[int, str | None]):
    """The folded form of each character: a letter, an ASCII digit, a blank, or nothing."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        kind = unicodedata.category(character)
        found: str | None = " "
        if kind in ("Mn", "Me", "Cf"):
            found = None
        elif kind == "Nd":
            found = str(unicodedata.digit(character))
        elif kind[0] in "LN" or kind == "Mc":
            found = character
        self[code] = found
        return found


_FOLDS = _CharacterFolds()


def fold_text(text: str) -> str:
    """Return a text's letters and digits without case and accents, and blanks for the others.

    >>> fold_text("Straße Mu\u0308ller-Łuk\u00adas ٤٢")
    'strasse muller łukas 42'
    """
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return folded.translate(_FOLDS)


@dataclass(frozen=True)
class FoldedCells:
    """Folded cells to split into tokens, with the row and the encoding of each cell.

    texts : large strings. Strings that are not ASCII are folded.
    """

    texts: pa.LargeStringArray
    rows: NDArray[np.int64]
    encodings: NDArray[np.uint8]

    @property
    def data(self) -> NDArray[np.uint8]:
        """The bytes of all cells."""
        return _bytes_of(self.texts)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """The start of each cell in `data`, and the end of the last cell."""
        return _offsets_of(self.texts)


def fold_cells(texts: pa.LargeStringArray) -> FoldedCells:
    """Fold cells without nulls."""
    return cells_of(_fold(texts))


_SPELLED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae"})
_UNSPELLED = r"([AOUaou])[Ee]"


def fold_with_spellings(texts: pa.LargeStringArray) -> FoldedCells:
    """Fold values and add their other spellings: Mueller for Müller, and Muller for Mueller."""
    plain = fold_cells(texts)
    marked = np.flatnonzero(pc.match_substring_regex(texts, "[äöüøåæÄÖÜØÅÆ]|[aou]\u0308"))
    composed = texts.take(pa.array(marked)).to_pylist()
    spelled = [unicodedata.normalize("NFC", x).casefold().translate(_SPELLED) for x in composed]
    double = np.flatnonzero(pc.match_substring_regex(texts, _UNSPELLED))
    single = pc.replace_substring_regex(texts.take(pa.array(double)), _UNSPELLED, r"\1")
    every = [plain.texts, _fold(pa.array(spelled, pa.large_string())), _fold(single)]
    rows = np.concatenate([plain.rows, marked, double])
    return FoldedCells(pa.concat_arrays(every), rows, np.zeros(len(rows), np.uint8))


def fold_with_decoded(texts: pa.LargeStringArray) -> FoldedCells:
    """Fold cells, and add the decoded texts of their base64, hexadecimal and URL-encoded runs."""
    plain = fold_cells(texts)
    decoded, cells, kinds = _decode_runs(texts)
    urls, url_cells = _decode_urls(texts)
    every = pa.concat_arrays([plain.texts, _fold(decoded), _fold(urls)])
    rows = np.concatenate([plain.rows, cells, url_cells])
    encodings = np.concatenate([plain.encodings, kinds, np.full(len(urls), URL, np.uint8)])
    return FoldedCells(every, rows, encodings)


def _fold(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    is_ascii = pc.string_is_ascii(texts)
    if pc.all(is_ascii).as_py() is not False:
        return texts
    others = pc.invert(is_ascii)
    folded = [fold_text(one) for one in texts.filter(others).to_pylist()]
    return pc.replace_with_mask(texts, others, pa.array(folded, pa.large_string()))


def _decode_runs(
    texts: pa.LargeStringArray,
) -> tuple[pa.LargeStringArray, NDArray[np.int64], NDArray[np.uint8]]:
    data, offsets = _bytes_of(texts), _offsets_of(texts)
    size = int(offsets[-1] - offsets[0])
    room = np.zeros(4 * size + 8, np.uint8)
    capacity = size // 16 + 16
    while True:
        ends, cells = np.zeros(capacity, np.int64), np.zeros(capacity, np.int32)
        kinds = np.zeros(capacity, np.uint8)
        count = find_encoded(data, offsets, room, ends, cells, kinds)
        if count <= capacity:
            break
        capacity = count
    return strings_of(room, ends[:count]), cells[:count].astype(np.int64), kinds[:count]


def _decode_urls(texts: pa.LargeStringArray) -> tuple[pa.LargeStringArray, NDArray[np.int64]]:
    has_any = np.flatnonzero(pc.match_substring_regex(texts, r"%[0-9A-Fa-f]{2}").to_numpy(False))
    found, rows = [], []
    for row, text in zip(has_any.tolist(), texts.take(pa.array(has_any)).to_pylist(), strict=True):
        for run in _PERCENT.findall(text):
            found.append(unquote_plus(run, errors="replace"))
            rows.append(row)
    return pa.array(found, pa.large_string()), np.array(rows, np.int64)


def cells_of(keys: pa.LargeStringArray) -> FoldedCells:
    """Return cells for strings that are already folded."""
    return FoldedCells(keys, np.arange(len(keys)), np.zeros(len(keys), np.uint8))


def strings_of(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> pa.LargeStringArray:
    """Return the consecutive strings in `data`, given the end of each string."""
    offsets = np.concatenate([[0], ends]).astype(np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(pa.large_string(), len(ends), buffers)


def _bytes_of(texts: pa.LargeStringArray) -> NDArray[np.uint8]:
    data = texts.buffers()[2]
    return np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)


def _offsets_of(texts: pa.LargeStringArray) -> NDArray[np.int64]:
    first = texts.offset
    buffer = texts.buffers()[1]
    if buffer is None or not buffer.size:
        return np.zeros(1, np.int64)
    return np.frombuffer(buffer, np.int64)[first : first + len(texts) + 1]
