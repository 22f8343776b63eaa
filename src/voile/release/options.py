"""What the options of every wing's verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from voile.core.errors import RequestError
from voile.keys.secret import Secret


class Options(BaseModel):
    """Options that are checked all at once and never changed afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ApplyOptions(Options):
    """How every wing's release is written."""

    keep_order: bool = Field(False, description="keep the source's row order, which links releases")
    formulas: Literal["keep", "escape"] = Field(
        "keep",
        description="text that a spreadsheet would take for a formula, in CSV and TSV; "
        "escape puts an apostrophe before it",
    )
    key_file: Path | None = Field(
        None,
        description="file with the secret of pseudonyms, dates, surrogates and the seal "
        "[variable VOILE_SECRET]",
    )


class Pseudonymous(ApplyOptions):
    """How a release is written that names its subjects by pseudonyms."""

    no_pseudonyms: bool = Field(False, description="leave out the column of subjects")

    def secret(self, subject: str | None) -> Secret | None:
        """Read the secret; without one, the subjects' column may be left out only knowingly.

        Raises
        ------
        RequestError : there is no secret, and pseudonyms of this column are to be released.
        """
        secret = Secret.find(self.key_file)
        if secret is None and subject is not None and not self.no_pseudonyms:
            raise RequestError(
                "there is no secret to make pseudonyms of it",
                where=f"column {subject}",
                instead="set VOILE_SECRET or --key-file, or do without, by --no-pseudonyms",
            )
        return secret
