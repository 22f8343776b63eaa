"""Confidence limits of readers' finds and misses, as pure functions of counts.

All limits are exact. Each inverts the distribution of the counts, and none uses a normal
approximation.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_BEYOND = 100
"""The excess of shown over seen identifiers beyond which the probability is negligible.

The largest count represents all larger counts.
"""


def lower_recall(seen: int, planted: int, level: float) -> float:
    """Return the lower limit of a reader's recall from seeded identifiers (Clopper, Pearson 1934).

    Parameters
    ----------
    seen, planted : 0 <= seen <= planted. Without seeded identifiers the limit is 0.
    level : the probability, in (0, 1), that the limit exceeds the recall.

    >>> round(lower_recall(59, 59, .05), 4)
    0.9505
    """
    from scipy.special import betaincinv

    _check_level(level)
    if not 0 <= seen <= planted:
        raise ValueError(f"{seen} seen of {planted} planted")
    return float(betaincinv(seen, planted - seen + 1, level)) if seen else 0.0


def missed_limit(found: int, recall: float, level: float) -> int | None:
    """Return the upper limit of the identifiers that a reader with this recall missed.

    The reader found `found` identifiers and sees each with the probability `recall`. Suppose that
    there are u more identifiers. The limit is the largest u for which `found` or fewer are seen
    with a probability above `level`. It is None if the recall is 0. A larger recall gives no larger
    limit, so a lower limit of the recall is also valid.

    >>> missed_limit(40, 1.0, .05), missed_limit(40, .9, .05), missed_limit(0, .5, .05)
    (0, 9, 4)
    """
    from scipy.special import bdtr

    _check_level(level)
    if recall <= 0:
        return None
    low, high = 0, 1
    while bdtr(found, found + high, recall) > level:
        low, high = high, 2 * high
    return smallest(low, high, lambda u: bdtr(found, found + u, recall) <= level) - 1


def smallest(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """Return the smallest number above `low` for which the condition holds.

    The condition must be monotone up to `high`, and true there.

    >>> smallest(0, 100, lambda x: x * x >= 50)
    8
    """
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def seen_at_most(found: int, drawn: int, units: int, there: int, recall: float = 1.0) -> float:
    """Return the probability that a sample shows at most `found` of the `there` identifiers."""
    most = found if recall >= 1 else min(there, found + _BEYOND)
    shown = np.arange(most + 1)
    chances = hypergeometric(shown, np.asarray(units), np.asarray(there), drawn)
    if recall >= 1:
        return min(float(chances.sum()), 1.0)
    from scipy.special import bdtr

    seen = np.where(shown <= found, 1.0, bdtr(np.minimum(found, shown), shown, recall))
    unfollowed = max(1.0 - chances.sum(), 0.0) * float(bdtr(found, most + 1, recall))
    return min(float(chances @ seen) + (unfollowed if most < there else 0.0), 1.0)


def binomial(successes: Ints, trials: int, chance: float) -> Floats:
    """Return the probability of each number of successes."""
    from scipy.special import gammaln, xlog1py, xlogy

    log = gammaln(trials + 1) - gammaln(successes + 1) - gammaln(trials - successes + 1)
    log = log + xlogy(successes, chance) + xlog1py(trials - successes, -chance)
    return np.asarray(np.exp(log), dtype=np.float64)


def hypergeometric(found: Ints, units: Ints, there: Ints, drawn: int) -> Floats:
    """Return the probability of `found` identifiers in a sample of `drawn` units.

    The population has `units` units, `there` of which are identifiers. Arrays broadcast, and
    impossible counts have the probability 0.
    """
    from scipy.special import gammaln

    def log_choose(n: Ints, k: Ints) -> Floats:
        with np.errstate(invalid="ignore"):
            log = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
        return np.where((k < 0) | (k > n), -np.inf, log)

    units, there, found = np.broadcast_arrays(units, there, found)
    whole = log_choose(units, np.asarray(drawn))
    part = log_choose(there, found) + log_choose(units - there, drawn - found)
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(part), np.exp(part - whole), 0.0)


def _check_level(level: float) -> None:
    if not (isfinite(level) and 0 < level < 1):
        raise ValueError(f"a level of {level}")
