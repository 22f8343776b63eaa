"""Linkage: find the person of a record in an identified register.

The adversary has a register of named people, with errors and gaps. The register shows how often
strangers agree. Register and release together show how many people agree in everything. From these
follow the share of the released people in the register, and its error rates.

The adversary compares every released record with every entry. Agreements and disagreements are
weighed as Fellegi and Sunter (1969) do. If sure enough, the adversary names the entry with the
largest score (one at random if several share it). The attack succeeds when the named person is the
record's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.evidence import Curve, Evidence, Finding, Note, Rate
from voile.report.wording import join_names
from voile.tables.attack.chance import StrangerChance, evenly, likeness
from voile.tables.attack.crowd import surplus
from voile.tables.attack.estimation import USUAL_ERROR, estimate
from voile.tables.attack.model import TIED, BestCandidates, HitMiss, best_candidates, pieces, ratios
from voile.tables.attack.patterns import AgreementPatterns, agreement_patterns
from voile.tables.attack.records import (
    MISSING,
    IntervalRecords,
    distinct_pairs,
    distinct_rows,
    first_of_each,
    same_columns,
)

CURVE_POINTS = 25


@dataclass(frozen=True)
class LinkageClaims:
    """The adversary's claim for each subject of the release (n,), before ties are broken.

    posterior : in [0, 1], the certainty of the one name that would be given; 0 = there is none.
    right : in [0, 1], the chance that the name is the subject's: the subject's own share of the
        entries with the highest score.
    guessed : in [0, 1], the baseline: the same for a name drawn from the entries with the same
        released values. If there is none, the name is drawn from the whole register.
    present : bool, the subject is in the register.
    """

    subject: NDArray[np.int64]
    posterior: NDArray[np.float64]
    right: NDArray[np.float64]
    guessed: NDArray[np.float64]
    present: NDArray[np.bool_]


def link(
    release: IntervalRecords,
    register: IntervalRecords,
    model: HitMiss | None = None,
    *,
    overlap: float | None = None,
    chance: StrangerChance | None = None,
) -> tuple[LinkageClaims, HitMiss]:
    """Find the best names for every subject, and return the model that it was done with.

    A subject with several rows is claimed once, by the most certain row. Subjects of the same
    values are rivals for the entries that fit them all: an entry is one person's.
    """
    comparable = np.any(register.codes >= 0, axis=0)
    shown = np.where(comparable, release.codes, MISSING)
    combinations, place = distinct_rows(shown)
    subject, combination = distinct_pairs(release.subject, place)
    patterns = agreement_patterns(combinations, register.codes)
    chances = (chance or StrangerChance.learn(register.codes, release.codes)).of(patterns)
    alike = np.bincount(combination, minlength=len(combinations))
    if model is None:
        weight = _subjects_by_combination(subject, combination, patterns)
        some = evenly(len(weight), chances.shape[1])
        model = estimate(
            patterns.select(some),
            chances[some],
            weight[some],
            overlap=overlap,
            surplus=surplus(alike[some], chances[some, patterns.whole]),
        )
    rivals = likeness(combinations, register.codes, shown) * len(np.unique(subject))
    chances[:, patterns.whole] *= _outside(model.share * rivals, len(register))
    best = best_candidates(patterns, chances, model, alike)
    surest = np.lexsort((-best.posterior[combination], subject))
    chosen = surest[first_of_each(subject)]
    subject, combination = subject[chosen], combination[chosen]
    of, entry = own_entries(subject, register.subject)
    pairs = RegisterPairs(of, combination[of], register.codes[entry])
    at_top = _at_top(pairs, patterns, chances, model, best, len(subject))
    right = at_top / np.maximum(best.tied[combination], 1)
    guessed = _guess_names(pairs, patterns, combination)
    posterior = best.posterior[combination]
    present = np.isin(subject, register.subject)
    return LinkageClaims(
        subject, posterior, np.where(posterior > 0, right, 0), guessed, present
    ), model


def _outside(own: NDArray[np.float64], entries: int) -> NDArray[np.float64]:
    """Return the share of agreeing entries that are nobody's of the release, at least one entry.

    `own` entries are of the release, weighed by how much oftener it shows the same values. They
    agree in every column only where their people are alike, and are then counted as rivals, not
    as strangers who agree by chance.
    """
    return np.maximum(1 - own / max(entries, 1), 1 / max(entries, 1))


@dataclass(frozen=True)
class RegisterPairs:
    """Subjects of the release, their combinations, and their own register entries (p, q)."""

    of: NDArray[np.intp]
    combination: NDArray[np.intp]
    held: NDArray[np.int32]


def _at_top(
    pairs: RegisterPairs,
    patterns: AgreementPatterns,
    chances: NDArray[np.float64],
    model: HitMiss,
    best: BestCandidates,
    subjects: int,
) -> NDArray[np.int64]:
    """Count each subject's own entries that share the highest score."""
    released = patterns.combinations[pairs.combination]
    bit = 1 << np.arange(released.shape[1])
    has = (pairs.held >= 0) @ bit
    agrees = ((pairs.held >= 0) & (pairs.held == released)) @ bit
    top = np.zeros(len(pairs.of), dtype=np.bool_)
    for block in patterns.blocks:
        these = np.flatnonzero(has == block.sets[-1])
        place = np.searchsorted(block.sets, agrees[these])
        for rows in pieces(len(these)):
            own = pairs.combination[these[rows]]
            table = ratios(block, patterns.combinations[own], chances[own], model)
            ratio = table[np.arange(len(own)), place[rows]]
            top[these[rows]] = ratio >= best.ratio[own] * TIED
    return np.bincount(pairs.of[top], minlength=subjects)


def _guess_names(
    pairs: RegisterPairs, patterns: AgreementPatterns, combination: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the chance that a name drawn from the entries of the same values is the subject's."""
    n, held = len(combination), _list_known_columns(patterns)
    same = np.all((pairs.held == patterns.combinations[pairs.combination])[:, held], axis=1)
    own_same, own = (np.bincount(of, minlength=n) for of in (pairs.of[same], pairs.of))
    group = _same_everywhere(patterns)[combination]
    return np.where(group > 0, own_same / np.maximum(group, 1), own / max(patterns.entries, 1))


def _subjects_by_combination(
    subject: NDArray[np.int64], combination: NDArray[np.intp], patterns: AgreementPatterns
) -> NDArray[np.float64]:
    """Spread every subject evenly over its combinations, and add up."""
    _, of, rows = np.unique(subject, return_inverse=True, return_counts=True)
    total = np.zeros(len(patterns.combinations))
    np.add.at(total, combination, 1 / rows[of])
    return total


def own_entries(
    subject: NDArray[np.int64], held: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pair every subject, by position, with each register entry that is its own."""
    order = np.argsort(held, kind="stable")
    start = np.searchsorted(held, subject, "left", sorter=order)
    count = np.searchsorted(held, subject, "right", sorter=order) - start
    of = np.repeat(np.arange(len(subject)), count)
    within = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
    return of, order[start[of] + within]


def _list_known_columns(patterns: AgreementPatterns) -> list[int]:
    """Return the columns that some entry of the register has a value in."""
    return sorted({column for block in patterns.blocks for column in block.columns})


def _same_everywhere(patterns: AgreementPatterns) -> NDArray[np.int64]:
    """Count the register entries that agree with each combination on every known column."""
    held = tuple(_list_known_columns(patterns))
    whole = [b.counts[:, -1] for b in patterns.blocks if b.columns == held]
    return whole[0].astype(np.int64) if whole else np.zeros(len(patterns.combinations), np.int64)


def linkage(
    release: IntervalRecords,
    register: IntervalRecords,
    *,
    columns: Sequence[str],
    rng: np.random.Generator,
    model: HitMiss | None = None,
    overlap: float | None = None,
    thresholds: Sequence[float] = (0.0, 0.5, 0.9),
) -> Evidence:
    """Link a release to an identified register by q <= 10 columns, and score by true identity.

    The findings for each threshold are the share of correct claims (precision) and the share of the
    register's people found (recall). The third is the share of people outside the register who get
    a name: all these claims are false. Baseline: a name drawn at random within the released group.
    Without `model` or `overlap`, EM estimates the error rates and the share in the register.

    Guarantee: the scores are exact, equal to comparing every pair. Without errors, and at threshold
    0, the expected precision is the mean of 1 / g, g the register's entries in the record's group.
    """
    same_columns(columns, release, register)
    claims, model = link(release, register, model, overlap=overlap)
    right = rng.random(len(claims.right)) < claims.right
    guessed = rng.random(len(claims.guessed)) < claims.guessed
    findings = [f for t in thresholds for f in findings_at(claims, right, guessed, float(t))]
    return Evidence(
        attack="linkage",
        heading="linkability",
        story=Note(
            (
                "The adversary holds a register of named people, with its errors and gaps, and "
                "compares each released record with every entry in {columns}. Agreements and "
                "disagreements are weighed by how often strangers agree. The adversary names "
                "the person with the highest score, or a random one if several people share "
                "it. Success is to name the right person."
            ),
            {"columns": join_names(columns or ("no column",))},
        ),
        knows=tuple(columns),
        findings=tuple(findings),
        curves=curves_of(claims, right),
        notes=_notes(columns, model, _missing(register, columns), known=overlap is not None),
    )


def findings_at(
    claims: LinkageClaims, right: NDArray[np.bool_], guessed: NDArray[np.bool_], threshold: float
) -> tuple[Finding, ...]:
    """Count claims, people found and false claims at one threshold."""
    claimed = (claims.posterior >= threshold) & (claims.posterior > 0)
    sure = Note("at least {sure:.0%} sure", {"sure": threshold})
    at = sure if threshold > 0 else Note("always claiming")
    here, absent = claims.present, ~claims.present
    return (
        Finding(
            "correct claims",
            _rate(right, claimed),
            baseline=_rate(guessed, np.ones_like(claimed)),
            meaning="The share of the adversary's identifications that are correct.",
            at=at,
        ),
        Finding(
            "people found",
            _rate(right & claimed, here),
            baseline=None if threshold > 0 else _rate(guessed, here),
            meaning="The share of the released people in the register who are re-identified "
            "correctly.",
            at=at,
        ),
        Finding(
            "claims on people not in the register",
            _rate(claimed, absent),
            meaning=(
                "The share of the released people outside the register to whom the adversary "
                "gives another person's name."
            ),
            at=at,
        ),
    )


def _rate(hit: NDArray[np.bool_], of: NDArray[np.bool_]) -> Rate:
    """Count subjects, one trial each: the design effect is 1."""
    return Rate(int(np.sum(hit & of)), int(np.sum(of)))


def curves_of(claims: LinkageClaims, right: NDArray[np.bool_]) -> tuple[Curve, ...]:
    """Draw precision and recall for ever more claims, the surest first."""
    sure = np.sort(claims.posterior[claims.posterior > 0])
    if len(sure) == 0:
        return ()
    steps = np.linspace(0, len(sure) - 1, CURVE_POINTS).round().astype(int)
    claimed = [claims.posterior >= t for t in np.unique(sure[steps])[::-1]]
    share = tuple(float(c.mean()) for c in claimed)
    precision = [_rate(right, c) for c in claimed]
    recall = [_rate(right & c, claims.present) for c in claimed]
    return _curve("precision", share, precision), _curve("recall", share, recall)


def _curve(name: str, share: tuple[float, ...], rates: Sequence[Rate]) -> Curve:
    y = tuple(r.value for r in rates)
    low, high = (tuple(r.interval()[end] for r in rates) for end in (0, 1))
    return Curve(name, "share of subjects claimed, the surest first", name, share, y, low, high)


def _missing(register: IntervalRecords, columns: Sequence[str]) -> dict[str, float]:
    """Return the share of the register's entries without a value, of columns that lack some."""
    lacking = np.sum(register.codes < 0, axis=0) / max(len(register), 1)
    return {c: float(share) for c, share in zip(columns, lacking, strict=True) if share > 0}


def _notes(
    columns: Sequence[str], model: HitMiss, missing: Mapping[str, float], *, known: bool
) -> tuple[Note, ...]:
    rates = ", ".join(f"{c} {e:.1%}" for c, e in zip(columns, model.errors, strict=True))
    gaps = ", ".join(f"{c} {share:.1%}" for c, share in missing.items())
    return (
        Note(
            "Share of the released people taken to be in the register: {share:.1%}, {known}. "
            "Assumed error rates of the released intervals: {rates}. The adversary expects "
            "{usual:.0%} and adjusts this to the data. Missing in the register: {gaps}. Missing "
            "values are evidence only if a person's own entry lacks them more or less often than "
            "other entries.",
            {
                "share": model.share,
                "known": "as given" if known else "an estimate",
                "rates": rates or "none",
                "usual": USUAL_ERROR,
                "gaps": gaps or "nothing",
            },
        ),
        Note(
            "Baseline: a name drawn at random from the register's people who show the same "
            "released values, for every subject."
        ),
        Note(
            "Subjects with the same released values are assumed to be different people, so "
            "each entry is claimed for one of them. Other subjects are linked one by one. "
            "An adversary may do better by assigning the entries to all subjects together, "
            "or by joining a subject's several rows."
        ),
    )
