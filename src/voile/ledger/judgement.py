"""What all releases together let an adversary do, and whether that keeps what was promised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from voile.core.brief import Brief
from voile.core.errors import InfeasibleError
from voile.core.rounding import rounded
from voile.core.wording import count
from voile.ledger.promise import Figures, Promise


@dataclass(frozen=True)
class Judgement(Brief):
    """One release judged together with those that are out.

    disclosed : what the new release discloses, as its line will hold it.
    others : how many releases are out.
    alone : the new release's own figures.
    low : expected matches of the single release that allows most, two digits of those out.
    high : of all of them, every row linked.
    missing : what could not be read of earlier lines, and so was taken at its worst.
    """

    shows = ("others",)

    disclosed: Mapping[str, Any]
    others: int
    alone: Figures
    low: float
    high: Figures
    missing: tuple[str, ...] = ()

    def check(self, promise: Promise) -> None:
        """Raise `InfeasibleError` where a promise would be broken; all figures are said."""
        if broken := list(promise.broken_by(self.alone)):
            raise InfeasibleError(
                f"this release alone breaks the ledger's promise: {' and '.join(broken)}",
                instead="choose a policy of less risk",
            )
        if broken := list(promise.broken_by(self.high)):
            raise InfeasibleError(
                f"with the {count(self.others, 'release')} that {_are(self.others)} out, this one "
                f"breaks the ledger's promise: {' and '.join(broken)} ({self.in_words()})",
                instead="choose with --after the ledger, or a policy all of whose cuts are out",
            )

    def in_words(self) -> str:
        """Say the figures, and what was taken at its worst."""
        said = f"expected matches: {self.low:.4g} from the best single release, "
        said += f"{self.high.matches:.4g} if every row is linked"
        return "; ".join([said, *self.missing])

    def figures(self) -> dict[str, dict[str, float]]:
        """Return the figures of a ledger's line: two digits, and no small group."""
        return {"alone": _stated(self.alone), "joint": _stated(self.high)}

    def to_data(self) -> dict[str, Any]:
        """Return all figures, for the data holder."""
        return {
            "releases": self.others,
            "alone": _exact(self.alone),
            "low": {"matches": self.low},
            "high": _exact(self.high),
            "missing": list(self.missing),
        }


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _stated(found: Figures) -> dict[str, float]:
    return {"matches": rounded(found.matches, "up"), "relative": rounded(found.relative, "up")}


def _exact(found: Figures) -> dict[str, float]:
    return {name: x for name, x in vars(found).items() if isfinite(x)}
