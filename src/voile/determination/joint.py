"""The joint risk with other releases: a rounded figure from a private ledger.

The figure, rounded up to two digits, is part of the determination. Each person who approves attests
it in the signed statement. Only the holder of the ledger can check it again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voile.core.errors import InfeasibleError, RequestError
from voile.core.evidence import Evidence
from voile.determination.judging import FROM_LEDGER, JudgedCriterion
from voile.ledger.ledger import Ledger, LedgerKeys
from voile.release.criteria import Bounds, CriterionMeasurement, Name
from voile.report.wording import share

SAYS = (
    "Expected matches of all releases in the ledger together, every row linked, as a share of the "
    "untouched source's"
)


@dataclass(frozen=True)
class FromLedger:
    """A measure with a figure from a ledger."""

    figure: CriterionMeasurement
    criterion: Name = "joint-risk"

    def read_measurements(
        self, _: Mapping[str, Any], __: Sequence[Evidence], ___: Bounds, /
    ) -> Iterator[CriterionMeasurement]:
        """Yield the ledger's figure."""
        yield self.figure


def joint_figure(
    manifest_sha256: str,
    ledger: str | os.PathLike[str],
    key_file: str | os.PathLike[str] | None,
) -> CriterionMeasurement:
    """Return the joint risk of a release with all releases in the ledger, including later ones.

    Raises
    ------
    RequestError : the release is not in the ledger, or the ledger belongs to another secret.
    TamperedError : the ledger was changed, or its last lines were removed.
    InfeasibleError : no figure bounds the joint risk of the releases.
    """
    read = Ledger.read_file(Path(ledger))
    LedgerKeys.of(None if key_file is None else Path(key_file), read.id).check(read)
    lines = read.released_lines
    own = [line.number for line in lines if line.content["manifest"] == manifest_sha256]
    if not own:
        raise RequestError(
            "the release is not in this ledger",
            where=str(ledger),
            instead="give the ledger that it was released under",
        )
    reached = [line.content.get("recipient") for line in lines if line.number == own[0]]
    joint = [
        line.content["joint"].get("relative")
        for line in lines
        if line.number >= own[0]
        and not read.audience.are_apart(line.content.get("recipient"), reached[0])
    ]
    if None in joint:
        raise InfeasibleError(
            "no figure limits the joint risk of this ledger's releases",
            instead="leave --ledger out, and explain in the context why you accept the unknown "
            "risk",
        )
    most = min(1.0, max(joint))
    evidence = f"{FROM_LEDGER}lines to {lines[-1].number}"
    return CriterionMeasurement(SAYS, share(most), "upper bound, two digits", most, evidence)


def describe_attested(criteria: Sequence[JudgedCriterion]) -> tuple[str, ...]:
    """Return the figures that an approval attests, because recipients cannot recompute them."""
    return tuple(
        f"{one.name}: {share(one.figure.most)} at most, by the ledger ({one.figure.evidence})"
        for one in criteria
        if one.figure is not None and one.figure.evidence.startswith(FROM_LEDGER)
    )
