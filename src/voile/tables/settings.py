"""What a roles file may say of a quasi-identifier beside its role."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from voile.errors import RequestError


class QuasiSettings(BaseModel):
    """How a column's domain is built, and which of its cuts are not free.

    Parameters
    ----------
    kind : ``integer``, ``decimal``, ``date`` or ``text``; found from the values where not given.
    by, form : for dates: what one value is, and how text is parsed (`strptime`).
    fill : whether values between the ones seen are in the domain too.
    order : a list of values, a file with one value a line, or ``zip3`` (numeric, the ZIP codes of
        small three-digit areas last, which keeps Safe Harbor on the lattice).
    hierarchy : an ARX hierarchy file.
    keep_cuts, drop_cuts : values after which the cut must stay, or must go.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["integer", "decimal", "date", "text"] | None = None
    by: Literal["day", "month", "year"] = "day"
    form: str | None = None
    fill: bool | None = None
    order: Literal["zip3"] | tuple[str, ...] | Path | None = None
    hierarchy: Path | None = None
    keep_cuts: tuple[int | str, ...] = ()
    drop_cuts: tuple[int | str, ...] = ()

    @classmethod
    def read(cls, column: str, settings: Mapping[str, Any]) -> QuasiSettings:
        """Check one column's settings; every mistake is named."""
        try:
            return cls.model_validate(dict(settings))
        except ValidationError as error:
            said = "; ".join(
                f"{'.'.join(map(str, e['loc']))}: {e['msg']}"
                for e in error.errors(include_input=False, include_url=False)
            )
            raise RequestError(said, where=f"roles, column {column}") from None
