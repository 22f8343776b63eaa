"""Differentially private fits: noise on counts first, then any method on what the counts say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from voile.core.errors import RequestError
from voile.keys.random import Protective, RandomState, streams
from voile.signals.codec.pieces import Floats
from voile.signals.methods.fitted import Fitted, Method, Sample
from voile.signals.methods.noise import discrete_laplace
from voile.signals.methods.transport import Transport

HELD = 2.0  # scores are clipped to it for the correlation
GRAIN = 1 << 10  # products of scores are whole numbers of 1 / GRAIN
FEWEST = 8  # bins
LEAST = 20  # readings drawn of each class, whatever its noisy count
LEAN = 10.0  # readings that a normal law counts as, for each unit of the noise's scale
STRONGEST = 0.98  # correlation: noise may say more
MOST = round(HELD**2 * GRAIN)  # that one product may be
SMALLEST = 1e-6  # epsilon is spent in such parts
KERNEL = np.array([1.0, 2.0, 3.0, 2.0, 1.0]) / 9
# the variance of a normal score that is clipped to HELD
CLIPPED = float(
    1
    - 2 * ndtr(-HELD)
    - 2 * HELD * np.exp(-(HELD**2) / 2) / np.sqrt(2 * np.pi)
    + 2 * HELD**2 * ndtr(-HELD)
)


@dataclass(frozen=True)
class Private:
    """Fit a method to made-up readings, drawn from noisy counts of the real ones.

    The story: someone who has the map, and knows everyone's readings but one person's, asks
    whether that person was there, and with which readings. Whatever the map shows is at
    most e^epsilon times as likely with the person as without.

    What is counted, of one reading of each subject, drawn by protective randomness:

    - per column and class a histogram of `bins` even bins between declared bounds (of logarithms,
      where the lower bound is above 0): a subject changes one count by 1, so that discrete
      Laplace noise of scale d / (share epsilon) costs share epsilon for all d columns together;
    - per class and pair of columns the sum of products of normal scores by these histograms,
      clipped to +-`HELD`, in whole 1 / `GRAIN`: a subject changes the sums of its class by
      HELD^2 GRAIN at most each, so that noise of scale pairs HELD^2 GRAIN / ((1 - share) epsilon)
      costs the rest; of one column, share is 1.

    Readings are then drawn from the noisy laws, joined by a normal copula, and the method is
    fitted to these: post-processing, which costs nothing. Frames, knots, shares, settings and
    coordinates all come from them.

    Guarantee: epsilon-differential privacy for adding or removing one subject with all its
    readings, proved by sequential composition of the two, and exact: noise is drawn by whole
    numbers alone. Not covered: that a fit is refused or warns, classes' and columns' names, and
    the resolution, which must be declared. Beliefs are left out; nominal columns and own laws
    would not be private, and are refused.

    Parameters
    ----------
    epsilon : above 0.
    bounds : per column (low, high), public: from knowledge, never from the data. Readings outside
        count as the nearest end.
    method : fitted to the readings drawn.
    share : of epsilon spent on histograms, between 0 and 1.
    bins : of each histogram, >= 8: with many readings, and much epsilon, more bins tell less.
    protective : the noise's randomness; another than the system's in tests only.

    Source: Dwork, McSherry, Nissim, Smith 2006; Ghosh, Roughgarden, Sundararajan 2009 (discrete
    Laplace); Canonne, Kamath, Steinke 2020 (drawn exactly); Li, Xiong, Jiang 2014 (copula).
    """

    epsilon: float
    bounds: Sequence[tuple[float, float]]
    method: Method = field(default_factory=Transport)
    share: float = 0.6
    bins: int = 32
    protective: Protective = field(default_factory=Protective, repr=False)

    def fit(self, sample: Sample, random_state: RandomState) -> Fitted:
        """Fit; O(n d^2), and the method's own cost on as many readings as there are subjects."""
        low, high = self._check(len(sample.cells))
        # one reading of each subject: the first after mixing all
        mixed = self.protective.generator().permutation(len(sample.c))
        chosen = mixed[np.unique(sample.subjects[mixed], return_index=True)[1]]
        X, c, k = sample.X[chosen], sample.c[chosen], int(sample.c.max()) + 1
        places = _places(X, low, high)
        laws = self._laws(places, c, k)
        together = self._correlations(places, c, laws)
        (rng,) = streams(random_state, "private readings")
        sizes = np.maximum(np.rint(laws.counts), LEAST).astype(np.intp)
        drawn = [laws.draw(which, together[which], n, rng) for which, n in enumerate(sizes)]
        whole = np.rint(_values(np.concatenate(drawn), low, high) / sample.cells)
        made = Sample(
            whole * sample.cells,
            np.repeat(np.arange(k), sizes),
            np.arange(len(whole)),
            sample.cells,
        )
        return replace(self.method.fit(made, random_state), epsilon=float(self.epsilon))

    def _check(self, d: int) -> tuple[Floats, Floats]:
        bounds = np.asarray(self.bounds, dtype=np.float64)
        part = self.epsilon * min(self.share, 1 - self.share)
        if not (np.isfinite(self.epsilon) and part >= SMALLEST and self.bins >= FEWEST):
            what = f"epsilon must be above 0, its share between 0 and 1, bins {FEWEST} or more"
            raise RequestError(what, where="Private")
        if bounds.shape != (d, 2) or not (bounds[:, 0] < bounds[:, 1]).all():
            raise RequestError(f"bounds must be {d} pairs of a low and a high number")
        return bounds[:, 0], bounds[:, 1]

    def scales(self, d: int) -> tuple[Fraction, Fraction | None]:
        """Return the noise's scales: of counts, and of sums of products where d > 1.

        What is spent: d / first + pairs HELD^2 GRAIN / second <= epsilon.
        """
        if d == 1:
            return 1 / _spent(self.epsilon), None
        pairs = d * (d - 1) // 2
        counts = d / _spent(self.epsilon * self.share)
        return counts, pairs * MOST / _spent(self.epsilon * (1 - self.share))

    def _laws(self, places: Floats, c: NDArray[np.intp], k: int) -> _Laws:
        counts = counted(places, c, k, self.bins)
        scale = self.scales(places.shape[1])[0]
        noise = discrete_laplace(counts.shape, scale, self.protective)
        return _Laws.of((counts + noise).astype(np.float64), float(scale))

    def _correlations(self, places: Floats, c: NDArray[np.intp], laws: _Laws) -> Floats:
        """Return per class the correlations of normal scores, (k, d, d), with noise."""
        k, d = laws.cumulative.shape[:2]
        out = np.tile(np.eye(d), (k, 1, 1))
        scale = self.scales(d)[1]
        if scale is None:
            return out
        y = np.empty_like(places)
        for which in range(k):
            y[c == which] = laws.scores(which, places[c == which])
        sums = products(y, c, k)
        sums = sums + discrete_laplace(sums.shape, scale, self.protective)
        r = sums / GRAIN / CLIPPED / laws.counts[:, None]
        i, j = np.tril_indices(d, -1)
        out[:, i, j] = out[:, j, i] = np.clip(r, -STRONGEST, STRONGEST)
        return np.stack([_positive(one) for one in out])


def counted(places: Floats, c: NDArray[np.intp], k: int, bins: int) -> NDArray[np.int64]:
    """Count places, (n, d) from 0 to 1, in classes, columns and bins: (k, d, bins)."""
    out = np.zeros((k, places.shape[1], bins), dtype=np.int64)
    which = np.minimum((places * bins).astype(np.intp), bins - 1)
    for j in range(places.shape[1]):
        np.add.at(out[:, j], (c, which[:, j]), 1)
    return out


def products(y: Floats, c: NDArray[np.intp], k: int) -> NDArray[np.int64]:
    """Sum clipped products of scores, (n, d), in classes and pairs of columns, in 1 / GRAIN."""
    held = np.clip(y, -HELD, HELD)
    i, j = np.tril_indices(y.shape[1], -1)
    out = np.zeros((k, len(i)), dtype=np.int64)
    np.add.at(out, c, np.rint(held[:, i] * held[:, j] * GRAIN).astype(np.int64))
    return out


@dataclass(frozen=True, eq=False)
class _Laws:
    """Noisy laws of places between the bounds, 0 to 1."""

    counts: Floats  # (k,) noisy sizes of the classes, 1 or more
    cumulative: Floats  # (k, d, bins + 1) distribution functions at the bins' edges, rising

    @classmethod
    def of(cls, noisy: Floats, scale: float) -> _Laws:
        """Smooth counts, (k, d, bins), drop what noise of this scale makes, lean on normal laws.

        Post-processing: it sees noisy counts alone.
        """
        counts = np.maximum(noisy.sum(axis=2).mean(axis=1), 1.0)
        weight = counts / (counts + LEAN * scale)
        noise = np.sqrt(2 * (KERNEL**2).sum()) * scale
        cumulative = [
            [_rising(_law(row, noise), w) for row in rows]
            for rows, w in zip(noisy, weight, strict=True)
        ]
        return cls(counts, np.array(cumulative))

    @property
    def edges(self) -> Floats:
        return np.linspace(0, 1, self.cumulative.shape[2])

    def scores(self, which: int, places: Floats) -> Floats:
        """Return the normal scores of places, (n, d)."""
        rows = [
            np.interp(x, self.edges, row)
            for x, row in zip(places.T, self.cumulative[which], strict=True)
        ]
        return np.asarray(ndtri(np.clip(np.stack(rows, axis=1), 1e-6, 1 - 1e-6)))

    def draw(self, which: int, together: Floats, n: int, rng: np.random.Generator) -> Floats:
        """Draw n places, (n, d), whose normal scores are correlated so."""
        u = ndtr(rng.normal(size=(n, len(together))) @ np.linalg.cholesky(together).T)
        rows = [
            np.interp(x, row, self.edges)
            for x, row in zip(u.T, self.cumulative[which], strict=True)
        ]
        return np.stack(rows, axis=1)


def _law(counts: Floats, noise: float) -> Floats:
    """Smooth noisy counts, and drop those that noise of this deviation makes."""
    smooth = np.convolve(np.pad(counts, len(KERNEL) // 2, mode="edge"), KERNEL, "valid")
    law = np.where(smooth > min(2 * noise, smooth.max() / 2), smooth, 0.0)
    law = np.maximum(law, 0.0) + 1e-9
    return np.asarray(law / law.sum())


def _rising(law: Floats, weight: float) -> Floats:
    """Return the distribution function at the edges, drawn to the normal law of its moments."""
    edges = np.linspace(0, 1, len(law) + 1)
    middle = (edges[1:] + edges[:-1]) / 2
    mean = law @ middle
    normal = np.diff(ndtr((edges - mean) / np.sqrt(law @ (middle - mean) ** 2)))
    mixed = weight * law + (1 - weight) * normal / normal.sum()
    return np.asarray(np.concatenate([[0.0], np.cumsum(mixed)]) / mixed.sum())


def _spent(epsilon: float) -> Fraction:
    """Return a fraction with a small denominator, no larger than epsilon."""
    return Fraction(int(epsilon / SMALLEST), round(1 / SMALLEST))


def _places(X: Floats, low: Floats, high: Floats) -> Floats:
    """Return where readings lie between their bounds, 0 to 1; of logarithms if all are above 0."""
    held = np.clip(X, low, high)
    logged = low > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(held / low) / np.log(high / low)
    return np.where(logged, ratio, (held - low) / (high - low))


def _values(places: Floats, low: Floats, high: Floats) -> Floats:
    """Undo `_places`."""
    logged = low > 0
    ratio = np.where(logged, high, 1.0) / np.where(logged, low, 1.0)
    return np.where(logged, low * ratio**places, low + (high - low) * places)


def _positive(together: Floats) -> Floats:
    """Return the nearest correlations whose matrix is positive."""
    values, vectors = np.linalg.eigh(together)
    near = (vectors * np.maximum(values, 1 - STRONGEST)) @ vectors.T
    unit = np.sqrt(np.diag(near))
    return np.asarray(near / np.outer(unit, unit))
