"""Locate a trained model in a local folder: its kind and its files.

Nothing is downloaded, copied or unpickled, and no code of the folder runs; see `onnx_folder` and
`spacy_folder`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from voile.core.errors import RequestError
from voile.documents.model.classifiers.folders.reading import MARKS, Kind, ModelPieces, ModelReader

Part = Literal["configuration", "tokenizer", "weights", "patterns"]
_PARTS: dict[str, Part] = {
    "config.json": "configuration",
    "config.cfg": "configuration",
    "meta.json": "configuration",
    "tokenizer.json": "tokenizer",
    "tokenizer": "tokenizer",
    "vocab": "tokenizer",
}
PATTERNS = ".jsonl"
"""The suffix of a spaCy ruler's file. Its phrases may be about only a few people."""


@dataclass(frozen=True)
class ModelFolder:
    """A model, identified by its folder and contents.

    A kit stores this, and no weights of the model.
    """

    folder: str
    kind: Kind
    files: tuple[tuple[str, str], ...]  # the name and the SHA-256 of each used file

    @classmethod
    def of(cls, folder: str) -> ModelFolder:
        """Inspect a folder.

        Raises
        ------
        RequestError : the folder does not exist, or contains no model of a supported kind.
        """
        place = Path(folder)
        if not place.is_dir():
            raise RequestError("there is no folder of a model", where=folder)
        kind = next((kind for kind, name in MARKS.items() if (place / name).is_file()), None)
        if kind is None:
            raise RequestError(
                "no model that can be read is in this folder",
                where=folder,
                instead="give a folder with model.onnx, tokenizer.json and config.json, or a "
                "spaCy pipeline's; weights of other formats are exported to ONNX first",
            )
        names = _files_of(kind, place)
        return cls(folder, kind, tuple((name, sha256_of(place / name)) for name in sorted(names)))

    def parts(self) -> list[tuple[Part, str, str]]:
        """Return for each file its part in the model, its name in the folder, and its SHA-256."""
        return sorted((_part_of(name), name, sha256) for name, sha256 in self.files)

    def check(self) -> None:
        """Refuse a folder if its files have changed."""
        now = dict(ModelFolder.of(self.folder).files)
        was = dict(self.files)
        other = sorted(name for name in now.keys() | was.keys() if now.get(name) != was.get(name))
        if other:
            raise RequestError(
                f"the model has changed since it was fitted with: {', '.join(other)}",
                where=self.folder,
                instead="put it back, or fit again",
            )

    def open(self) -> ModelReader:
        """Return the model, checked and opened once in each process."""
        return open_reader(self)


@lru_cache(maxsize=4)
def open_reader(model: ModelFolder) -> ModelReader:
    model.check()
    return _RememberingReader(_open_folder(model.kind, Path(model.folder)))


class _RememberingReader:
    """A model with a cache, since a loop processes the same text in each fold and pass."""

    MOST_BYTES = 2**27

    def __init__(self, reader: ModelReader) -> None:
        self._reader = reader
        self._held: dict[bytes, ModelPieces] = {}
        self._bytes = 0

    @property
    def types(self) -> Sequence[str]:
        return self._reader.types

    def read_text(self, text: str) -> ModelPieces:
        key = hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
        found = self._held.get(key)
        if found is None:
            found = self._reader.read_text(text)
            if self._bytes > self.MOST_BYTES:
                self._held, self._bytes = {}, 0
            self._held[key] = found
            self._bytes += found.odds.nbytes + found.starts.nbytes + found.ends.nbytes
        return found


def _part_of(file: str) -> Part:
    """Return a file's part in a model.

    >>> [_part_of(name) for name in ("model.onnx", "vocab/strings.json", "ruler/patterns.jsonl")]
    ['weights', 'tokenizer', 'patterns']
    """
    if file.endswith(PATTERNS):
        return "patterns"
    return _PARTS.get(file.partition("/")[0], "weights")


def _files_of(kind: Kind, folder: Path) -> list[str]:
    if kind == "onnx":
        from voile.documents.model.classifiers.folders.onnx_folder import files_of
    else:
        from voile.documents.model.classifiers.folders.spacy_folder import files_of
    return files_of(folder)


def _open_folder(kind: Kind, folder: Path) -> ModelReader:
    if kind == "onnx":
        from voile.documents.model.classifiers.folders.onnx_folder import open_folder as open_onnx

        return open_onnx(folder)
    from voile.documents.model.classifiers.folders.spacy_folder import open_folder as open_spacy

    return open_spacy(folder)


def sha256_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        raise RequestError(
            f"the model lacks a file that can be read: {path.name}", where=str(path.parent)
        ) from None
