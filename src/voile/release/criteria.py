"""Find the figures of a release and its evidence that answer each question of a determination.

A module lists its measures in `verbs/criteria.py`. The functions here read them from a public
manifest and from evidence, in the form that the public may see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, get_args

from voile.core.evidence import FORBID, Evidence, Finding, difference
from voile.core.rounding import round_number
from voile.report.wording import (
    estimate,
    is_hidden,
    name_of,
    share,
    share_and_odds,
    upper_bound,
)

Name = Literal[
    "re-identification",
    "singling-out",
    "linkability",
    "inference",
    "text-left",
    "joint-risk",
    "kept-columns",
]
NAMES: tuple[Name, ...] = get_args(Name)
Bounds = Literal["largest", "mean", "group"]
"""The quantity that a threshold limits: the largest risk, the mean, or the smallest group."""
TITLES: Mapping[Name, str] = {
    "re-identification": "Re-identification risk",
    "singling-out": "Singling out",
    "linkability": "Linkability",
    "inference": "Inference",
    "text-left": "Identifiers left in text",
    "joint-risk": "Joint risk with other releases",
    "kept-columns": "Unique on all released columns",
}
CERTIFIED = "certified"
"""The text instead of an interval if the figure was counted in the release itself."""


@dataclass(frozen=True)
class CriterionMeasurement:
    """One figure, in the form that the public may see.

    Parameters
    ----------
    says : the meaning of the figure.
    shown, interval : their text on a page.
    most : the upper limit, which decides the verdict. For a count, the figure itself.
    evidence : its origin: a figure of the manifest, or an attack.
    """

    __pydantic_config__ = FORBID

    says: str
    shown: str
    interval: str
    most: float
    evidence: str


def format_figure(name: Name, figure: CriterionMeasurement) -> str:
    """Write a figure with its interval, or with the word "certified". A risk also has its odds.

    >>> risk = CriterionMeasurement("largest risk", "1.7%", CERTIFIED, 0.017, "manifest: max_risk")
    >>> format_figure("re-identification", risk), format_figure("singling-out", risk)
    ('1.7% (1 in 59), certified', '1.7%, certified')
    """
    if figure.interval != CERTIFIED:
        return f"{figure.shown} ({figure.interval})" if figure.interval else figure.shown
    is_risk = name == "re-identification"
    return f"{share_and_odds(figure.most) if is_risk else figure.shown}, {CERTIFIED}"


class CriterionMeasure(Protocol):
    """The way in which one kind of data answers one question."""

    @property
    def criterion(self) -> Name:
        """The name of the question."""

    def read_measurements(
        self, public: Mapping[str, Any], evidence: Sequence[Evidence], bounds: Bounds, /
    ) -> Iterator[CriterionMeasurement]:
        """Yield the measurements in the manifest or the evidence, if there are any."""


@dataclass(frozen=True)
class CertifiedFigure:
    """A figure of the public manifest: the largest risk of a record, or the mean risk.

    Parameters
    ----------
    criterion : the question that the figure answers.
    figure, mean : the names of the largest figure and of the mean in the manifest.
    says : the meaning of the figure.
    is_group_size : whether the figure is the size of the smallest released group.
    """

    criterion: Name
    figure: str
    says: str
    mean: str = ""
    is_group_size: bool = False

    def read_measurements(
        self, public: Mapping[str, Any], _: Sequence[Evidence], bounds: Bounds
    ) -> Iterator[CriterionMeasurement]:
        """Yield the certified figure, or the mean if `bounds` is ``mean``."""
        if bounds == "group" and self.criterion == "re-identification" and not self.is_group_size:
            return
        name, says = self.figure, self.says
        if bounds == "mean":
            name, says = self.mean, "mean risk over the records, not the largest"
        value = public["figures"].get(name)
        if value is None:
            return
        if self.is_group_size:
            value = min(1.0, 1 / value) if value else 1.0
        yield CriterionMeasurement(says, share(value), CERTIFIED, value, f"manifest: {name}")


@dataclass(frozen=True)
class AttackedFigure:
    """The finding of attacks with the largest upper limit.

    Parameters
    ----------
    takes : a function that returns whether a finding answers the question.
    gain : whether to measure the excess over the control group, or else over the baseline, instead
        of the share itself.
    never_released : whether no row of the control group was released. If False, the control group
        is ignored, and a gain is relative to the baseline.
    """

    criterion: Name
    takes: Callable[[Evidence, Finding], bool]
    gain: bool = False
    never_released: bool = True

    def read_measurements(
        self, _: Mapping[str, Any], evidence: Sequence[Evidence], bounds: Bounds
    ) -> Iterator[CriterionMeasurement]:
        """Yield the finding with the largest upper limit. Yield nothing for a limit on groups."""
        if bounds == "group" and self.criterion == "re-identification":
            return
        measure = _gain if self.gain else _rate
        found = [
            measure(attack, one if self.never_released else replace(one, control=None))
            for attack in evidence
            for one in attack.findings
            if self.takes(attack, one) and one.rate.trials
        ]
        if found:
            yield max(found, key=lambda one: one.most)


def worst_figure(
    name: Name,
    measures: Sequence[CriterionMeasure],
    public: Mapping[str, Any],
    evidence: Sequence[Evidence],
    bounds: Bounds = "largest",
) -> CriterionMeasurement | None:
    """Return the figure with the largest upper limit that answers a question, or None."""
    own = (measure for measure in measures if measure.criterion == name)
    found = [one for measure in own for one in measure.read_measurements(public, evidence, bounds)]
    return max(found, key=lambda one: one.most, default=None)


def _rate(attack: Evidence, found: Finding) -> CriterionMeasurement:
    shown, interval = estimate(found.rate, "public")
    most = round_number(min(1.0, upper_bound(found.rate, "public")), "up")
    return CriterionMeasurement(
        _capital(name_of(found, "public")), shown, interval, most, _of(attack)
    )


def _gain(attack: Evidence, found: Finding) -> CriterionMeasurement:
    """Measure how much more often a guess is right than without the release.

    The comparison is with people who were never released if the finding has such a control, or else
    with the baseline. If either side has few people, the share itself is the upper limit.
    """
    if found.control and found.control.trials:
        other, beyond = found.control, "people who were never released"
    elif found.baseline and found.baseline.trials:
        other, beyond = found.baseline, "an adversary without the release"
    else:
        return _rate(attack, found)
    if is_hidden(found.rate, "public") or is_hidden(other, "public"):
        return _rate(attack, found)
    value, low, high = difference(found.rate, other)
    low, high = round_number(low, "down"), round_number(high, "up")
    says = f"{_capital(name_of(found, 'public'))}, beyond {beyond}"
    interval = f"{_points(low)} to {_points(high)}"
    return CriterionMeasurement(
        says,
        f"{_points(round_number(value))} percentage points",
        interval,
        max(0.0, high),
        _of(attack),
    )


def _of(attack: Evidence) -> str:
    return f"attack: {attack.attack}" + (f", {attack.of}" if attack.of else "")


def _points(value: float) -> str:
    return f"{100 * value:.2g}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
