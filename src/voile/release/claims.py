"""The named standards that a page may claim, each with the figures that the claim needs.

A claim without its figure is "not measured", never met. Reports and determinations take every claim
from this table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from voile.core.evidence import Evidence
from voile.release.criteria import (
    Bounds,
    CriterionMeasure,
    CriterionMeasurement,
    Name,
    format_figure,
    worst_figure,
)
from voile.report.sections import Grid
from voile.report.wording import odds, share

Status = Literal["met", "not met", "not measured", "stated"]
ATTACK = "attack"
"""The name for any attack that answers the question.

Its estimate is evaluated by its upper limit.
"""
SAFE_HARBOR_CATEGORIES = (
    "names",
    "geographic subdivisions smaller than a state",
    "elements of dates except the year, and ages over 89",
    "telephone numbers",
    "fax numbers",
    "e-mail addresses",
    "social security numbers",
    "medical record numbers",
    "health plan beneficiary numbers",
    "account numbers",
    "certificate and licence numbers",
    "vehicle identifiers and serial numbers",
    "device identifiers and serial numbers",
    "web addresses",
    "IP addresses",
    "biometric identifiers",
    "full-face photographs",
    "any other unique identifying number, characteristic or code",
)
"""The 18 categories of 45 CFR 164.514(b)(2)(i)."""


@dataclass(frozen=True, kw_only=True)
class NamedStandard:
    """A standard that a page may claim.

    Parameters
    ----------
    title : its name on a page.
    source : its name and limit in a determination's file.
    limit : the largest figure that meets the standard. None if it sets no limit.
    allows : the limit as text.
    bounds : the figure to which the limit refers.
    unit : the unit of the figure.
    refers_to : the people to whom the standard refers.
    figures : the names of the figures that can support the claim.
    sentence : the claim, with placeholders {says}, {figure} and {population}.
    note : a fact that a reader needs to apply the standard.
    """

    title: str
    source: str = ""
    limit: float | None = None
    allows: str = ""
    bounds: Bounds = "largest"
    unit: str
    refers_to: str
    figures: tuple[str, ...]
    sentence: str
    note: str = ""


STANDARDS: Mapping[str, NamedStandard] = {
    "ema-0070": NamedStandard(
        title="EMA Policy 0070",
        source="EMA Policy 0070: at most 0.09",
        limit=0.09,
        allows="at most 0.09, 1 in 11.1",
        unit="chance that a released person is identified by quasi-identifiers, texts and linked "
        "rows, the largest over people",
        refers_to="the population that the data holder states: the trial's people, those of "
        "similar trials, or of the region",
        figures=("max_risk", "joint_at_recall_max_risk", "all_parts_group_risk", "k", ATTACK),
        sentence="{says}: {figure}; population: {population}",
        note="A group of 11 has a risk of 1/11 = .0909, which misses .09 by .0009: groups of 12 "
        "meet it. The number of a person's linked rows counts",
    ),
    "k-11": NamedStandard(
        title="groups of at least 11",
        source="groups of at least 11, as US health statistics use: 1/11, stated as 0.091",
        limit=0.091,
        allows="at most 1/11, stated as 0.091",
        bounds="group",
        unit="people in the smallest released group, as 1 / people",
        refers_to="the people in the release, by all linked rows; no population",
        figures=("groups_under_11", "k", "all_parts_group_risk"),
        sentence="{says}",
    ),
    "k-map": NamedStandard(
        title="k-map",
        unit="people of the population who fit a released combination, the fewest",
        refers_to="the population that the release was counted against",
        figures=("k_map",),
        sentence="at least {figure} people of the population fit each released combination; "
        "population: {population}",
    ),
    "safe-harbor": NamedStandard(
        title="HIPAA Safe Harbor",
        limit=0.0,
        unit="cells with a value of the 18 categories by form or column name, and people "
        "with such values of their own in released text, beyond chance",
        refers_to="the released people, their relatives, employers and household members",
        figures=("safe_harbor_found", "values_found"),
        sentence="{figure} values of the 18 categories found in the released bytes",
        note="No search sees a picture, a nickname or a description of a person. The standard also "
        "requires that the data holder knows of no other way to identify a person",
    ),
}
"""The named standards.

A data holder's own standard is a threshold in the context, with its source.
"""
BOUNDING = ("ema-0070", "k-11")
"""The standards that a threshold of a context may name."""


@dataclass(frozen=True)
class StandardClaim:
    """The result of one standard for a release, with the text that supports it."""

    standard: NamedStandard
    status: Status
    says: str


def find_claims(
    public: Mapping[str, Any], measures: Sequence[CriterionMeasure], evidence: Sequence[Evidence]
) -> tuple[StandardClaim, ...]:
    """Return the claim of each named standard, based only on the figures that it allows."""
    found = []
    for name, one in STANDARDS.items():
        if name in BOUNDING:
            figure = worst_figure("re-identification", measures, public, evidence, one.bounds)
            found.append(_claim_bounded(one, figure, public))
        else:
            found.append(_claim_counted(one, public))
    return tuple(found)


def can_allow(standard: NamedStandard, figure: CriterionMeasurement) -> bool:
    """Return whether a figure is one that supports a standard."""
    kind, _, rest = figure.evidence.partition(": ")
    return (rest.partition(",")[0] if kind == "manifest" else kind) in standard.figures


def _claim_bounded(
    one: NamedStandard, figure: CriterionMeasurement | None, public: Mapping[str, Any]
) -> StandardClaim:
    if figure is None or not can_allow(one, figure) or one.limit is None:
        return StandardClaim(one, "not measured", f"no figure of {' or '.join(one.figures)}")
    text = format_figure("re-identification", figure)
    said = one.sentence.format(says=figure.says, figure=text, population=_population(public))
    return StandardClaim(one, "met" if figure.most <= one.limit else "not met", said)


def _claim_counted(one: NamedStandard, public: Mapping[str, Any]) -> StandardClaim:
    known = {name: x for name in one.figures if (x := public["figures"].get(name)) is not None}
    worst, absent = max(known.values(), default=0), [x for x in one.figures if x not in known]
    exceeds = one.limit is not None and worst > one.limit
    if absent and not exceeds:
        return StandardClaim(one, "not measured", f"no figure of {' and '.join(absent)}")
    said = one.sentence.format(figure=f"{worst:,.0f}", population=_population(public))
    if one.limit is None:
        return StandardClaim(one, "stated", said)
    return StandardClaim(one, "not met" if exceeds else "met", said)


def _population(public: Mapping[str, Any]) -> str:
    return str(public.get("population") or "not stated, so the released people alone")


def threshold(name: Name, limit: float, source: str) -> str:
    """Write a threshold with its source and its limit, in the form used on every page.

    >>> threshold("re-identification", 0.09, "EMA Policy 0070: at most 0.09")
    'EMA Policy 0070 (at most 0.09, 1 in 11.1)'
    >>> threshold("inference", 0.2, "The privacy officer")
    'The privacy officer (at most 20%)'
    """
    for one in STANDARDS.values():
        if (limit, source) == (one.limit, one.source):
            return f"{one.title} ({one.allows})"
    most = f"at most {share(limit)}{f', {odds(limit)}' * (name == 're-identification')}"
    return f"{source} ({most})"


def list_claims(claims: Sequence[StandardClaim]) -> Grid:
    """Return the claims as a table of a page."""
    rows = tuple(
        (
            one.standard.title + (f" ({one.standard.allows})" if one.standard.allows else ""),
            one.status,
            f"{one.says[:1].upper()}{one.says[1:]}",
            f"{one.standard.unit[:1].upper()}{one.standard.unit[1:]}; {one.standard.refers_to}"
            + (f". {one.standard.note}" if one.standard.note else ""),
        )
        for one in claims
    )
    columns = ("standard", "result", "by", "measure and people")
    return Grid(columns, rows, "Claims of named standards")
