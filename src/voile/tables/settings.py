"""What a roles file may say of a column beside its role."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from voile.errors import RequestError


class Settings(BaseModel):
    """Settings of one column, read all at once; one that is not known is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def read(cls, column: str, settings: Mapping[str, Any]) -> Self:
        """Check one column's settings; every mistake is named."""
        try:
            return cls.model_validate(dict(settings))
        except ValidationError as error:
            said = "; ".join(
                f"{'.'.join(map(str, e['loc']))}: {e['msg']}"
                for e in error.errors(include_input=False, include_url=False)
            )
            raise RequestError(said, where=f"roles, column {column}") from None


class KeptSettings(Settings):
    """What becomes of a column that is released as it is.

    Parameters
    ----------
    shift_days : move its dates, each subject's by one shift of up to so many days; 1 to 36,500.
    """

    shift_days: int | None = Field(None, ge=1, le=36_500)


PATHS = ("order", "hierarchy")
"""Settings that may name a file, which is looked for beside the roles file."""

Order = Literal["natural", "common", "zip3"] | tuple[str, ...] | Path


class QuasiSettings(Settings):
    """How a column's domain is built, and which of its cuts are not free.

    Parameters
    ----------
    kind : ``integer``, ``decimal``, ``date`` or ``text``; found from the values where not given.
    by, form : for dates: what one value is, and how text is parsed (`strptime`).
    fill : whether values between the ones seen are in the domain too.
    order : a list of values, a file with one value a line; ``natural``; ``common`` (by how many
        subjects have a value, most first: what names have by default); or ``zip3`` (numeric, but
        the ZIP codes of small three-digit areas last, which keeps Safe Harbor on the lattice).
    hierarchy : an ARX hierarchy file.
    keep_cuts, drop_cuts : values after which the cut must stay, or must go.
    """

    kind: Literal["integer", "decimal", "date", "text"] | None = None
    by: Literal["day", "month", "year"] = "day"
    form: str | None = None
    fill: bool | None = None
    order: Order | None = None
    hierarchy: Path | None = None
    keep_cuts: tuple[int | str, ...] = ()
    drop_cuts: tuple[int | str, ...] = ()
