"""Link released records to people in an identified register.

The adversary has a register of named people, with errors and gaps. The register shows how often
strangers agree. The register and the release together show how many people agree in all columns.
From these numbers the adversary estimates the share of released people in the register, and its
error rates.

The adversary compares every released record with every entry, and weights agreements and
disagreements as in Fellegi and Sunter (1969). If the posterior is high enough, the adversary names
the entry with the largest score (a random one if several share it). The attack succeeds if the
named person is the record's.
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

    Attributes
    ----------
    subject : the subject's number.
    posterior : in [0, 1], the probability of the named entry. 0 if there is no candidate.
    right : in [0, 1], the probability that the named entry is the subject's: the subject's own
        share of the entries with the highest score.
    guessed : in [0, 1], the baseline: the same probability for a name drawn from the entries with
        the same released values. If there are none, the name is drawn from the whole register.
    present : bool, whether the subject is in the register.
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
    """Find the best candidates for every subject, and return them with the model used.

    A subject with several rows gets one claim, from the row with the highest posterior. Each entry
    belongs to one person, so subjects with the same values compete for the entries that fit them
    all.
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
    """Return the share of agreeing entries that belong to nobody in the release.

    The share is that of at least one entry. `own` is the number of entries of released people,
    weighted by how much more frequent the same values are in the release. Such an entry agrees in
    every column only with records of equal people. It is then counted as a competitor, and not as a
    stranger who agrees by chance.
    """
    return np.maximum(1 - own / max(entries, 1), 1 / max(entries, 1))


@dataclass(frozen=True)
class RegisterPairs:
    """Pairs of a released subject's combination and one of the subject's own register entries.

    Attributes
    ----------
    of : (p,) the subject's position.
    combination : (p,) the number of the subject's combination.
    held : (p, q) the codes of the register entry.
    """

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
    """Return the probability that a name drawn from the entries with the same values is right."""
    n, held = len(combination), _list_known_columns(patterns)
    same = np.all((pairs.held == patterns.combinations[pairs.combination])[:, held], axis=1)
    own_same, own = (np.bincount(of, minlength=n) for of in (pairs.of[same], pairs.of))
    group = _same_everywhere(patterns)[combination]
    return np.where(group > 0, own_same / np.maximum(group, 1), own / max(patterns.entries, 1))


def _subjects_by_combination(
    subject: NDArray[np.int64], combination: NDArray[np.intp], patterns: AgreementPatterns
) -> NDArray[np.float64]:
    """Divide each subject evenly among its combinations, and return the sums."""
    _, of, rows = np.unique(subject, return_inverse=True, return_counts=True)
    total = np.zeros(len(patterns.combinations))
    np.add.at(total, combination, 1 / rows[of])
    return total


def own_entries(
    subject: NDArray[np.int64], held: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pair every subject, by position, with each of its own register entries."""
    order = np.argsort(held, kind="stable")
    start = np.searchsorted(held, subject, "left", sorter=order)
    count = np.searchsorted(held, subject, "right", sorter=order) - start
    of = np.repeat(np.arange(len(subject)), count)
    within = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
    return of, order[start[of] + within]


def _list_known_columns(patterns: AgreementPatterns) -> list[int]:
    """Return the columns in which some entry of the register has a value."""
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
    """Link a release to an identified register by q <= 10 columns, and score the claims.

    For each threshold the findings are precision (the share of correct claims) and recall (the
    share of the register's people found). The third finding is the false-positive rate: the share
    of people outside the register who get a name. The baseline draws a random name within the
    released group. Without `model` or `overlap`, EM estimates the error rates and the share of
    people in the register.

    Guarantee: the scores are exact, equal to comparing every pair. Without errors, and at threshold
    0, the expected precision is the mean of 1 / g. Here g is the number of register entries in the
    record's group.
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
    """Return precision, recall and false-positive rate at one threshold."""
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
    """Return the rate of `hit` among `of`, with one trial per subject: the design effect is 1."""
    return Rate(int(np.sum(hit & of)), int(np.sum(of)))


def curves_of(claims: LinkageClaims, right: NDArray[np.bool_]) -> tuple[Curve, ...]:
    """Return precision and recall by the share of subjects claimed, highest posterior first."""
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
    """Return the share of entries without a value, for each column of the register with gaps."""
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
