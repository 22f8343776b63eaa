"""The parts of a context that the data holder states for the expert who signs.

The thresholds suggested by a sensitivity score follow from four cell sizes with precedents: 3, 5,
11 and 20. The points, and the rule by which they select a cell size, are voile's own.

Source of the factors and cell sizes: El Emam and Malin, "Concepts and Methods for De-identifying
Clinical Trial Data", appendix B of Institute of Medicine, *Sharing Clinical Trial Data*, 2015.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from voile.core.evidence import Rate

Text = Annotated[str, Field(min_length=1, max_length=4000)]
Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Day = Annotated[date, Field(strict=True)]
Level = Literal["low", "medium", "high"]
POINTS: Mapping[Level, int] = {"low": 0, "medium": 1, "high": 2}
SUGGESTED = ((1, 3, 0.33), (3, 5, 0.2), (5, 11, 0.091), (6, 20, 0.05))
"""The largest number of points for each cell size, the cell size, and the resulting threshold."""
TO_DO = "TO DO"
"""The beginning of each template text that the data holder has not written yet."""
LEAST_WORDS, LEAST_LETTERS = 4, 8
_WORD = re.compile(r"[^\W\d_]{2,}")


class StrictModel(BaseModel):
    """A table of a context that allows no unknown fields and converts no types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ImpactAssessment(StrictModel):
    """The data protection impact assessment (DPIA) that covers this release.

    Parameters
    ----------
    reference, dated : its number or title, and its date.
    place : a URL, or the name of a file.
    sha256 : the hash of the file, in lower-case hexadecimal digits.
    """

    reference: Text
    dated: Day
    place: Text
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None


class ExpertStatement(StrictModel):
    """The person who attests the determination, in the person's own words."""

    name: Text
    credentials: Text
    attestation: Text


class PlannedReview(StrictModel):
    """One planned review: the day, the subject and the owner."""

    due: Day
    what: Text
    owner: Text


class IntruderTest(StrictModel):
    """A test in which people tried to identify released people.

    Parameters
    ----------
    intruders : the people who acted as intruders.
    sources : the registers, web pages and knowledge that they used.
    started : the first day.
    hours : the time spent, > 0.
    claims, confirmed : the number of claimed identifications, and of those the data holder
        confirmed.
    checked_by : the person who compared the claims with the identities.
    """

    intruders: Annotated[list[Text], Field(min_length=1, max_length=50)]
    sources: Annotated[list[Text], Field(min_length=1, max_length=50)]
    started: Day
    hours: Annotated[float, Field(gt=0, le=100_000, allow_inf_nan=False)]
    claims: Annotated[int, Field(ge=0)]
    confirmed: Annotated[int, Field(ge=0)]
    checked_by: Text

    @model_validator(mode="after")
    def _has_claims(self) -> Self:
        if self.confirmed > self.claims:
            raise ValueError("confirms more claims than were made")
        return self

    @property
    def rate(self) -> Rate:
        """The share of claims that the data holder confirmed."""
        return Rate(self.confirmed, self.claims)


class SensitivityScore(StrictModel):
    """Three stated factors that determine a suggested threshold.

    points = motives + invasion + (2 - controls), where low is 0, medium is 1 and high is 2. The
    score is therefore 0 to 6.

    Parameters
    ----------
    controls : the mitigating controls of the recipient.
    motives : the motives and capacity to identify people.
    invasion : the invasion of privacy if somebody is identified.
    why : the reasons.

    >>> public = SensitivityScore(controls="low", motives="medium", invasion="high", why="...")
    >>> public.points, public.cell_size, public.threshold
    (5, 11, 0.091)
    """

    controls: Level
    motives: Level
    invasion: Level
    why: Text

    @property
    def points(self) -> int:
        """The score, in [0, 6]."""
        return POINTS[self.motives] + POINTS[self.invasion] + 2 - POINTS[self.controls]

    @property
    def cell_size(self) -> int:
        """The smallest number of people in a group that the score suggests."""
        return next(size for most, size, _ in SUGGESTED if self.points <= most)

    @property
    def threshold(self) -> float:
        """The largest risk that the score suggests: 1 / cell size, with two digits."""
        return next(share for most, _, share in SUGGESTED if self.points <= most)


def has_substance(reason: str) -> bool:
    """Return whether a reason has 4 distinct words, or 8 distinct letters of an East Asian script.

    >>> [has_substance(x) for x in ("x", " ", "ok ok ok ok", "The contract forbids linking")]
    [False, False, False, True]
    """
    words = {word.lower() for word in _WORD.findall(reason)}
    letters = {letter for word in words for letter in word if ord(letter) >= 0x2E80}
    return len(words) >= LEAST_WORDS or len(letters) >= LEAST_LETTERS


def find_open(stated: Any, place: str = "") -> list[str]:
    """Return the places of template texts that are not written yet."""
    if isinstance(stated, Mapping):
        inner = {f"{place}.{name}" if place else str(name): x for name, x in stated.items()}
        return [one for name, x in inner.items() for one in find_open(x, name)]
    if isinstance(stated, list | tuple):
        return [one for n, x in enumerate(stated) for one in find_open(x, f"{place}.{n}")]
    return [place] if isinstance(stated, str) and stated.startswith(TO_DO) else []
