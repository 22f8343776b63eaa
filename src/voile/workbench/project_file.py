"""The content of `project.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from voile.core.errors import RequestError
from voile.core.mistakes import mistakes


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceFile(_StrictModel):
    """The table to release, and its hash at the time when the project last read it."""

    path: str = ""
    sha256: str = ""


class FitLimits(_StrictModel):
    """The limits of `fit`."""

    k: Annotated[int, Field(ge=1)] = 11
    max_risk: Annotated[float, Field(gt=0, le=1)] = 0.02
    suppress: Annotated[float, Field(ge=0, le=1)] = 0.05
    hold_out: Annotated[float, Field(ge=0, lt=1)] = 0.1
    population: str = ""


class AttackerFiles(_StrictModel):
    """The adversary's files."""

    register_file: str = ""
    person: str = ""


class LookupTables(_StrictModel):
    """Tables of the values and names that identify people in notes.

    subject : the column of the notes with each person's number.
    by : the column of the lookup table with each person's number.
    known : the table of each person's values.
    people : the table of names that any note may mention.
    """

    subject: str = ""
    known: str = ""
    by: str = ""
    people: str = ""


class ProjectFile(_StrictModel):
    """The content of `project.toml`."""

    format: Literal["voile-project"] = "voile-project"
    version: Literal[1] = 1
    name: str
    kind: Literal["tables", "itemsets", "signals", "documents", "study"] = "tables"
    seed: Annotated[int, Field(ge=0)] = 2013
    source: SourceFile = SourceFile()
    fit: FitLimits = FitLimits()
    attack: AttackerFiles = AttackerFiles()
    lookups: LookupTables = LookupTables()

    def to_toml(self) -> str:
        """Return the content of the project file as TOML."""
        import tomli_w

        return tomli_w.dumps(self.model_dump())


def parse_project(data: Mapping[str, Any], place: Path) -> ProjectFile:
    """Parse the content of a project file.

    Raises
    ------
    RequestError : the file has mistakes. The message lists all of them.
    """
    try:
        return ProjectFile.model_validate(data)
    except ValidationError as error:
        raise RequestError(mistakes(error), where=str(place), instead="correct it") from None
