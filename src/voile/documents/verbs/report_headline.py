"""The report's headline: what is left and what is lost, of this very release where it is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voile.core.evidence import Evidence, Rate
from voile.documents.learning.quantities import FOUND, LEFT, REMOVED
from voile.documents.verbs.report_data import judged_on
from voile.report.evidence_sections import shown_findings
from voile.report.sections import Audience, Figure
from voile.report.wording import (
    estimate,
    needs_suppression,
    rest_needs_suppression,
    said,
    share,
    share_of,
)

ON_RELEASE = "measured on this release"


def headline_figures(
    story: Mapping[str, Any],
    public: Mapping[str, float],
    evidence: Sequence[Evidence],
    audience: Audience,
) -> Iterator[Figure]:
    """Yield the key numbers: what an attack measured on this release, else what the fit expects."""
    known = story.get("chosen") or public
    whole = story["found"]["identifiers"] if story.get("chosen") else None
    measured = _measured(evidence)
    if LEFT in measured:
        value, interval = estimate(measured[LEFT], audience)
        expected = f"; the fit expected {_expected(known, whole, audience)}" * ("risk" in known)
        yield Figure("Identifiers left", value, f"{ON_RELEASE}{expected}", interval)
    elif "risk" in known:
        value, interval = left_at_fit(known, whole, audience)
        meaning = f"of those in the annotated text, {judged_on(story)}"
        yield Figure("Identifiers left", value, meaning, interval)
    if REMOVED in measured:
        value, interval = estimate(measured[REMOVED], audience)
        expected = f"; the fit expected {share(known['loss'])}" * ("loss" in known)
        yield Figure("Harmless tokens removed", value, f"{ON_RELEASE}{expected}", interval)
    elif "loss" in known:
        yield Figure("Harmless tokens removed", share(known["loss"]), "of all harmless")
    few = whole is not None and needs_suppression(known["risk"], whole, audience)
    if "published_tokens" in known and not few:  # with the loss it reveals how many are left
        kept = share(known["published_tokens"])
        yield Figure("Published", kept, "of the tokens, as they were; expected by the fit")
    yield from _strongest(evidence, audience)


def left_at_fit(
    known: Mapping[str, float], whole: int | None, audience: Audience
) -> tuple[str, str]:
    """Return the share of identifiers left that the fit found out of fold, and its interval."""
    risk = known["risk"]
    hidden = needs_suppression, rest_needs_suppression
    if whole and any(needs(risk, whole, audience) for needs in hidden):
        return share_of(risk, whole, audience), ""
    ends = [share(known[end]) for end in ("risk_low", "risk_high") if end in known]
    return share(risk), " to ".join(ends)


def _expected(known: Mapping[str, float], whole: int | None, audience: Audience) -> str:
    value, interval = left_at_fit(known, whole, audience)
    return f"{value} ({interval})" if interval else value


def _measured(evidence: Sequence[Evidence]) -> dict[str, Rate]:
    """Return what was counted on the release itself, by quantity."""
    return {
        one.quantity: one.rate
        for attack in evidence
        for one in attack.findings
        if one.quantity in (LEFT, REMOVED) and not one.of
    }


def _strongest(evidence: Sequence[Evidence], audience: Audience) -> Iterator[Figure]:
    """Say in one number what the attacker who finds most finds."""
    found = [
        one
        for attack in evidence
        for one in shown_findings(attack, audience)
        if one.quantity == FOUND and one.at is not None
    ]
    if found:
        most = max(found, key=lambda one: (one.rate.successes, one.rate.value))
        value, interval = estimate(most.rate, audience)
        under = "" if most.at is None else said(most.at, audience)
        yield Figure(
            "Found by an attacker", value, f"identifiers among the first {under}", interval
        )
