"""The index of a work folder: the place of the notes, and how the kit was made from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from voile.core.errors import RequestError
from voile.data.files.outputs import WORK_FORMAT, WORK_INDEX, WORK_VERSION
from voile.data.files.own_files import check_model, read_json
from voile.data.roles import Roles
from voile.documents.adapters.model import ExternalModel
from voile.documents.options import LearningOptions
from voile.documents.replacements.names import Language


class WorkFile(BaseModel):
    """The contents of `work.json`: the place of the notes, and how the kit was made from them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: str = WORK_FORMAT
    version: int = WORK_VERSION
    notes: str = Field(pattern=r"^[^\x00]+$")  # a path that `open_source` accepts
    table: str | None
    encoding: str | None
    fingerprint: str
    subject_pattern: str | None  # the pattern of file names
    roles: dict[str, Any]
    by: str | None  # the column of subjects in the table of known values
    language: Language
    starter: str | None = None  # the name of the pretrained model; None without one
    learning: dict[str, Any]
    models: tuple[ExternalModel, ...] = ()  # the user's own models, at the time of the fit
    seed: int = Field(ge=0)


def read_work(folder: Path) -> WorkFile:
    """Read the index of a work folder."""
    place = folder / WORK_INDEX
    try:
        data = read_json(place, "the work folder's index")
    except (FileNotFoundError, NotADirectoryError):
        raise RequestError(
            "no work folder here", where=str(folder), instead="voile documents init makes one"
        ) from None
    if not isinstance(data, dict) or data.get("format") != WORK_FORMAT:
        raise RequestError("this is not a work folder", where=str(folder))
    if isinstance(data.get("version"), int) and data["version"] > WORK_VERSION:
        raise RequestError(
            f"the work folder has version {data['version']} and this voile reads up to "
            f"{WORK_VERSION}",
            where=str(folder),
            instead="use a newer voile",
        )
    file = check_model(WorkFile, data, "the work folder's index", place)
    check_model(Roles, file.roles, "the work folder's index", place)
    check_model(LearningOptions, file.learning, "the work folder's index", place)
    return file


def write_work(folder: Path, file: WorkFile) -> None:
    """Write the index of a work folder, readable only by its owner."""
    place = folder / WORK_INDEX
    place.write_text(json.dumps(file.model_dump(), indent=1, ensure_ascii=False), encoding="utf-8")
    place.chmod(0o600)
