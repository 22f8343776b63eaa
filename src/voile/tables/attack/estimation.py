"""Estimate a register's error rates, gaps and overlap with a release by EM, from the data alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from voile.tables.attack.model import Floats, HitMiss, RegisterGaps, hits
from voile.tables.attack.patterns import AgreementPatterns

USUAL_ERROR = 0.05
MOST_ERROR = 0.5
LEAST_RIGHT = 0.5
CHECKED = 20.0
STEPS_AGREEING, STEPS = 1_000, 200
SETTLED = 1e-5


def estimate(
    patterns: AgreementPatterns,
    chances: Floats,
    weight: Floats,
    *,
    overlap: float | None = None,
    surplus: Floats | None = None,
) -> HitMiss:
    """Estimate error rates, gaps and overlap from the release and the register by EM.

    Parameters
    ----------
    weight : (c,) >= 0, the number of subjects with each combination.
    overlap : the share of released people in the register, if it is known.
    surplus : (c,) how many more released people are equal than chance explains.

    The number of people with an entry that agrees in all its columns is estimated first, since
    errors do not affect it. The other people in the register have errors. An error looks like
    absence wherever many strangers agree in the other columns. The adversary therefore starts from
    an error rate of 5%, with the weight of `CHECKED` checked people, and updates it with the data.
    A given overlap determines how many people have errors.
    """
    crowd = np.zeros(len(weight)) if surplus is None else surplus
    crowd = crowd[:, None] / max(patterns.entries, 1)
    excess = excess_over_chance(patterns, chances)
    rivals = crowd[:, 0] / chances[:, patterns.whole]
    agreeing, gaps = _agree_in_all(patterns, excess, weight, rivals)
    these = np.flatnonzero(_complete(patterns))
    patterns, weight = patterns.select(these), weight[these]
    excess = excess_over_chance(patterns, (chances + agreeing * crowd)[these], gaps)
    model = _with_errors(np.full(chances.shape[1].bit_length() - 1, USUAL_ERROR), agreeing, overlap)
    for _ in range(STEPS):
        misses, *_, evidence = expectation(patterns, excess, weight, model)
        absent = float(weight @ (1 / np.where(evidence > 0, evidence, 1)))
        errors = (misses + USUAL_ERROR * CHECKED) / (model.share * absent + CHECKED)
        before, model = model, _with_errors(errors, agreeing, overlap)
        moved = np.abs(np.append(model.errors - before.errors, model.share - before.share))
        if moved.max() < SETTLED:
            break
    return replace(model, gaps=gaps)


def _with_errors(errors: Floats, agreeing: float, overlap: float | None) -> HitMiss:
    """Return the model in which a share of `agreeing` people agree in all columns.

    The errors are changed if they contradict that share.
    """
    errors = np.clip(errors, 0.0, MOST_ERROR)
    right = float(np.prod(1 - errors))
    share = min(agreeing / right, 1.0) if overlap is None else overlap
    if share > 0 and right < 1:
        wanted = min(max(agreeing / share, LEAST_RIGHT), 1.0)
        errors = 1 - (1 - errors) ** (np.log(wanted) / np.log(right))
    return HitMiss(errors, share)


def _agree_in_all(
    patterns: AgreementPatterns, excess: tuple[Floats, ...], weight: Floats, rivals: Floats
) -> tuple[float, RegisterGaps]:
    """Return the gaps, and the share of people with an entry that agrees in all its columns.

    Both are estimated by EM.
    """
    seen, blocks = patterns.combinations, patterns.blocks
    n, exact = weight.sum(), HitMiss(np.zeros(seen.shape[1]), 1.0)
    agree = np.array(
        [(hits(b, seen, exact) * e).sum(axis=1) for b, e in zip(blocks, excess, strict=True)]
    )
    lacks = np.array([[j not in b.columns for j in range(seen.shape[1])] for b in blocks])
    lacks = lacks.reshape(len(blocks), seen.shape[1])
    anybody = np.array([b.entries for b in blocks]) @ lacks / max(patterns.entries, 1)
    counted = _complete(patterns).astype(float)
    missing = weight @ (seen < 0) / n if n > 0 else np.zeros(seen.shape[1])
    gaps, share = _like_anybody(anybody, missing, anybody), 0.5 if blocks else 0.0
    for _ in range(STEPS_AGREEING if blocks and n > 0 else 0):
        own = agree * np.stack([gaps.ratio(seen, b.columns) for b in blocks])
        own[[b.sets[-1] == patterns.whole for b in blocks]] /= 1 + share * rivals
        own *= weight * share / (1 - share + share * own.sum(axis=0))
        before, share = share, min(float((own @ counted).sum() / (weight @ counted)), 1.0)
        found = own @ (seen < 0)
        twice = ((found * lacks).sum(axis=0) + CHECKED * anybody) / (found.sum(axis=0) + CHECKED)
        gaps = _like_anybody(anybody, missing, twice)
        if abs(share - before) < SETTLED:
            break
    return share, gaps


def _complete(patterns: AgreementPatterns) -> NDArray[np.bool_]:
    """Return a mask (c,) of the combinations with a value in every column of the register.

    The mask is all True if there is no such combination.
    """
    held = patterns.whole >> np.arange(patterns.combinations.shape[1]) & 1
    complete: NDArray[np.bool_] = ((patterns.combinations >= 0) | (held == 0)).all(axis=1)
    return complete if complete.any() else ~complete


def _like_anybody(anybody: Floats, missing: Floats, twice: Floats) -> RegisterGaps:
    """Return the gaps of people who lack values as often as all entries do.

    `missing` is the share that lacks each column in the release. `twice` is the share of these that
    lacks it in the register too.
    """
    once = (anybody - missing * twice) / np.where(missing < 1, 1 - missing, 1)
    return RegisterGaps(np.stack([np.clip(once, 0, 1), twice]), anybody)


def excess_over_chance(
    patterns: AgreementPatterns, chances: Floats, gaps: RegisterGaps | None = None
) -> tuple[Floats, ...]:
    """Return the ratio of the entries that agree on at least each set to the number by chance.

    There is one array for each block. The numbers are shares of all entries. If `gaps` are given,
    the ratio is multiplied by how much likelier a person's own entry has exactly the block's
    columns. With known errors, the evidence of a record is a weighted sum of these ratios.
    """
    entries, seen = max(patterns.entries, 1), patterns.combinations
    return tuple(
        b.at_least
        / (entries * chances[:, b.sets])
        * (1.0 if gaps is None else gaps.ratio(seen, b.columns)[:, None])
        for b in patterns.blocks
    )


def expectation(
    patterns: AgreementPatterns,
    excess: tuple[Floats, ...],
    weight: Floats,
    model: HitMiss,
) -> tuple[Floats, Floats, float, Floats]:
    """Return expected misses (q,), compared values (q,), matched people, and the evidence (c,)."""
    c, q = patterns.combinations.shape
    total, hit, seen = np.zeros(c), np.zeros((c, q)), np.zeros((c, q))
    missing = patterns.combinations < 0
    rows = slice(1) if (missing == missing[:1]).all() else slice(None)
    for block, over in zip(patterns.blocks, excess, strict=True):
        mass = hits(block, patterns.combinations[rows], model) * over
        columns = list(block.columns)
        right = block.sets[:, None] >> np.array(columns, dtype=np.intp) & 1
        whole = mass.sum(axis=1)
        total += whole
        hit[:, columns] += mass @ right
        seen[:, columns] += whole[:, None]
    seen *= patterns.combinations >= 0
    evidence = (1 - model.share) + model.share * total
    scale = weight * model.share / np.where(evidence > 0, evidence, 1)
    compared = scale @ seen
    return compared - scale @ hit, compared, float(scale @ total), evidence
