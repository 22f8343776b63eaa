"""Store pretrained models as files: arrays without pickles, with reproducible bytes."""

from __future__ import annotations

import hashlib
import json
import zlib
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import DamagedError, RequestError
from voile.documents.model.classifiers.consensus import ConsensusClassifier
from voile.documents.model.classifiers.reader_head import ReaderClassifier
from voile.documents.model.start.lists import lists_of
from voile.documents.model.start.starter.starter import PretrainedStarter
from voile.documents.reader.installed import find_reader
from voile.documents.words.features import FeatureSpace

STARTERS = ("english",)
"""The languages with a pretrained model in voile."""
HEADS_ON_READER = ("reader-english", "reader-spanish")
"""The pretrained models that use the reader."""
FORMAT = 1
DIGITS = 12
"""The decimal places of a file's numbers, except weights."""


@cache
def load_starter(name: str) -> PretrainedStarter:
    """Load a pretrained model of voile. Its name distinguishes its versions."""
    data = starter_bytes(name)
    return read_starter(data, f"{name} {hashlib.sha256(data).hexdigest()[:16]}")


def find_starter(name: str) -> PretrainedStarter:
    """Return the pretrained model of a kit, by its full name."""
    starter = load_starter(name.partition(" ")[0])
    if starter.name != name:
        raise RequestError(
            "the kit learnt with another version of the starter",
            instead="apply it with the voile that made it, or make it again",
        )
    return starter


def reader_starter(language: str) -> str | None:
    """Return the name of the pretrained model for the installed reader; None if there is none."""
    name, reader = f"reader-{language}", find_reader()
    if reader is None or name not in HEADS_ON_READER:
        return None
    head = load_starter(name).classifier
    assert isinstance(head, ReaderClassifier)
    return name if (head.sha256, head.layer) == (reader.sha256, reader.layer) else None


def starter_bytes(name: str) -> bytes:
    known = (*STARTERS, *HEADS_ON_READER)
    if name not in known:
        raise RequestError(f"no starter {name}", instead=f"use {' or '.join(known)}, or none")
    return (files(__package__) / f"{name}.npz").read_bytes()


def write_starter(starter: PretrainedStarter) -> bytes:
    """Return a pretrained model as the bytes of a file, with its weights as 16-bit floats.

    Other numbers are rounded, since their last digits depend on the processor.
    """
    space = starter.space
    kind = starter.classifier.saved_as
    facts: dict[str, Any] = {
        "format": FORMAT,
        "language": starter.language,
        "tags": space.tags,
    }
    if kind != ConsensusClassifier.saved_as:
        facts["kind"] = kind
    own: dict[str, NDArray[Any]] = {
        "facts": _bytes(json.dumps(facts, sort_keys=True)),
        "attributes": _bytes("\n".join(space.attributes)),
        "columns": space.columns,
    }
    for name, array in starter.classifier.to_arrays().items():
        own[f"classifier/{name}"] = _as_stored(name, array)
    buffer = BytesIO()
    np.savez_compressed(buffer, **own)  # type: ignore[arg-type]
    return buffer.getvalue()


def _as_stored(name: str, array: NDArray[Any]) -> NDArray[Any]:
    if name in ("weights", "windows"):
        return array.astype("<f2")
    return np.round(array, DIGITS) if np.issubdtype(array.dtype, np.floating) else array


def read_starter(data: bytes, name: str = "") -> PretrainedStarter:
    """Read a pretrained model without running any code in the file."""
    try:
        with np.load(BytesIO(data), allow_pickle=False) as held:
            arrays = dict(held)
        facts = json.loads(arrays["facts"].tobytes())
        if facts["format"] != FORMAT:
            raise ValueError
        attributes = arrays["attributes"].tobytes().decode().split("\n")
        lists = lists_of(facts["language"])
        space = FeatureSpace(tuple(attributes), tuple(facts["tags"]), arrays["columns"], lists)
        held = {name.removeprefix("classifier/"): array for name, array in arrays.items()}
        kind = facts.get("kind", ConsensusClassifier.saved_as)
        is_head = kind == ReaderClassifier.saved_as
        classifier = (ReaderClassifier if is_head else ConsensusClassifier).from_arrays(held)
        return PretrainedStarter(facts["language"], space, classifier, name)
    except (BadZipFile, EOFError, KeyError, OSError, RequestError, ValueError, zlib.error) as error:
        raise DamagedError("the starter's file is not whole") from error


def _bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), np.uint8)
