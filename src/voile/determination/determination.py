"""A determination: the facts that its page shows and that people sign, and their file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import TypeAdapter, ValidationError

from voile.core.brief import BriefRepr
from voile.core.errors import DamagedError
from voile.core.evidence import FORBID, Evidence
from voile.core.mistakes import mistakes
from voile.core.version import __version__
from voile.data.files.own_files import read_bytes
from voile.determination.context import Context
from voile.determination.judging import JudgedCriterion, Verdict, judge, worst
from voile.determination.subject import JudgedRelease, criteria_of
from voile.keys.seal import file_sha256
from voile.release.criteria import CriterionMeasure

FORMAT = "voile-determination"


@dataclass(frozen=True, kw_only=True)
class Determination(BriefRepr):
    """The judged release, its criteria, and the verdict.

    Parameters
    ----------
    release : the name of the release's file.
    sha256 : the hash of the release's bytes, or of its rows.
    manifest_sha256 : the hash of the public manifest. The determination contains a copy of the
        manifest.
    made : the day of the determination.
    verdict : the worst verdict of the criteria.
    """

    __pydantic_config__ = FORBID
    shows = ("verdict", "release")

    format: Literal["voile-determination"] = "voile-determination"
    version: Literal[1] = 1
    kind: str
    release: str
    sha256: str
    manifest_sha256: str
    made: date
    voile: str = __version__
    context: Context
    criteria: tuple[JudgedCriterion, ...]
    verdict: Verdict

    @classmethod
    def of(
        cls,
        release: JudgedRelease,
        evidence: Sequence[Evidence],
        context: Context,
        *,
        today: date,
        measures: Sequence[CriterionMeasure] = (),
    ) -> Self:
        """Evaluate a release by its evidence and the public figures of its manifest.

        measures : measures in addition to those of the release's kind.
        """
        every = (*criteria_of(release.kind), *measures)
        criteria = judge(context, every, release.public, evidence)
        return cls(
            kind=release.kind,
            release=release.name,
            sha256=str(release.public["sha256"]),
            manifest_sha256=file_sha256(release.manifest),
            made=today,
            context=context,
            criteria=criteria,
            verdict=worst(criteria),
        )

    def to_json(self) -> str:
        """Return the content of the determination's file."""
        data: dict[str, Any] = {**asdict(self), "context": self.context.model_dump(mode="json")}
        return json.dumps({**data, "made": self.made.isoformat()}, indent=1, ensure_ascii=False)

    @classmethod
    def read_file(cls, path: Path) -> Self:
        """Read a determination from its file.

        Raises
        ------
        DamagedError : the file is missing, or does not have the format that voile writes.
        """
        try:
            return TypeAdapter(cls).validate_json(read_bytes(path), strict=True)
        except (FileNotFoundError, NotADirectoryError):
            raise DamagedError("is not there", where=str(path)) from None
        except ValidationError as error:
            said = mistakes(error)
            raise DamagedError(f"the determination is damaged: {said}", where=str(path)) from None
