"""The installed reader: a folder with the encoder's graph, its tokenizer and `reader.toml`."""

from __future__ import annotations

import hashlib
import os
import sys
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from voile.core.errors import DamagedError, RequestError

if TYPE_CHECKING:
    from voile.documents.reader.encoder import TextEncoder


PLACE = "VOILE_READER"
"""The environment variable that sets another folder."""


INDEX, GRAPH, TOKENIZER = "reader.toml", "model.onnx", "tokenizer.json"


INSTALL = "install it with: voile documents reader install SOURCE"


class InstalledReader(BaseModel):
    """The contents of `reader.toml`: the encoder, and the layer that is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["voile-reader"] = "voile-reader"
    version: Literal[1] = 1
    name: str
    sha256: str = Field(pattern="^[0-9a-f]{64}$")  # SHA-256 of the original weights
    is_listed: bool  # whether voile lists this hash
    layer: int = Field(ge=1)
    width: int = Field(ge=1)
    source: str  # the name of the weights file
    graph: str = Field(pattern="^[0-9a-f]{64}$")  # SHA-256 of the graph
    tokenizer: str = Field(pattern="^[0-9a-f]{64}$")  # SHA-256 of the tokenizer


def reader_folder() -> Path:
    """Return the folder of the installed reader, by default in the user's data folder.

    The folder need not exist.
    """
    if place := os.environ.get(PLACE):
        return Path(place)
    home = Path.home()
    if sys.platform == "darwin":
        data = home / "Library" / "Application Support"
    elif sys.platform == "win32":
        data = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    else:
        data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return data / "voile" / "reader"


def find_reader() -> InstalledReader | None:
    """Return the installed reader; None if there is none.

    Raises
    ------
    DamagedError : the description of the reader is incomplete.
    """
    path = reader_folder() / INDEX
    try:
        return InstalledReader.model_validate(tomllib.loads(path.read_text("utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, ValidationError):
        raise DamagedError(
            "the installed reader's description is not whole",
            where=str(path),
            instead="install it again: voile documents reader install SOURCE",
        ) from None


def open_reader(sha256: str, layer: int) -> TextEncoder:
    """Open the reader with these weights and this layer, once in each process.

    Raises
    ------
    RequestError : no reader is installed, or a different one.
    DamagedError : a file of the reader has changed since it was installed.
    """
    found = find_reader()
    if found is None:
        raise RequestError("this needs a reader, and none is installed", instead=INSTALL)
    if (found.sha256, found.layer) != (sha256, layer):
        raise RequestError(
            f"this needs layer {layer} of the reader with SHA-256 {sha256[:12]}, and layer "
            f"{found.layer} of {found.sha256[:12]} is installed",
            instead="install that one, or set VOILE_READER to its folder",
        )
    return _open_folder(reader_folder(), found)


@lru_cache(maxsize=2)
def _open_folder(folder: Path, reader: InstalledReader) -> TextEncoder:
    from voile.documents.reader.encoder import TextEncoder

    for name, sha256 in ((GRAPH, reader.graph), (TOKENIZER, reader.tokenizer)):
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            found = ""
        if found != sha256:
            raise DamagedError(
                f"the installed reader's {name} is not as it was installed",
                where=str(folder),
                instead=INSTALL,
            )
    return TextEncoder.open(folder / GRAPH, folder / TOKENIZER, reader.width)
