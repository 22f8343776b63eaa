"""The default method: a chain of Knothe-Rosenblatt maps to one normal law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from voile.keys.random import RandomState, streams
from voile.signals.fitting.methods.conditional_fit import SideChoice, fit_own, fit_shared
from voile.signals.fitting.methods.layers import LayerChain, fit_layer
from voile.signals.fitting.methods.smoothing import grid_over
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.codec.side import SideLevels
from voile.signals.model.codec.steps import AffineMap, KnotheRosenblatt, PieceCurve
from voile.signals.model.maps.fitted import ClassSample, FittedLaws, SideFrames, normal_law, plain

FOLDS = 3
TRIED = 2  # folds for scoring choices; more folds would change few choices
LOG_KNOTS = 257
# one kind of setting after another is tried, from the best so far
Choices: TypeAlias = tuple[tuple[dict[str, float], ...], ...]
CHOICES: Choices = (
    ({"backwards": False}, {"backwards": True}),
    tuple({"degree": m, "spread": s} for m, s in ((1, 0), (3, 1), (5, 2), (7, 3))),
    tuple({"bandwidth": b} for b in (0.7, 1.0, 1.4)),
    tuple({"kappa": kappa} for kappa in (5.0, 20.0, 100.0)),
    tuple({"depth": depth} for depth in (1, 2)),
)


@dataclass(frozen=True)
class TransportMethod:
    """The method that makes every class standard normal by a chain of triangular maps.

    It takes logs, whitens each class with a triangular matrix, and then applies the chain. The map
    is injective by construction. It is exact for no family, but close for all. Each layer removes
    the conditional means, conditional spreads and marginals that earlier layers left.

    Parameters
    ----------
    settings : flexibility of the chain. None: chosen by likelihood on two of three folds of
        subjects, held out in turn.
    side : smoothness of the frame of side columns. None: chosen in the same way.
    """

    settings: LayerChain | None = None
    side: SideChoice | None = None

    def fit(self, sample: ClassSample, random_state: RandomState) -> FittedLaws:
        """Fit the maps to one normal law.

        About ten choices are tried on two folds each. Each fit costs O(n d^2 + classes d g^2).
        """
        coordinates = logs(sample)
        sample = sample.add_dither(random_state)
        Y = np.stack([curve(x) for curve, x in zip(coordinates, sample.X.T, strict=True)])
        splits = folds(sample, random_state)
        if sample.levels is None:
            how, W, side = self.settings or choose(Y, sample, splits), Y, None
        else:
            how, W, side = conditional(
                Y, sample, sample.levels, splits, settings=self.settings, choice=self.side
            )
        frames, layers = fit_chain(W, sample.c, how)
        law = normal_law(len(Y))
        choices = how, side.choice if side else None
        return FittedLaws(
            sample.shares, frames, layers, law, coordinates, side=side, choices=choices
        )


def conditional(
    Y: Floats,
    sample: ClassSample,
    levels: SideLevels,
    splits: NDArray[np.intp],
    *,
    settings: LayerChain | None,
    choice: SideChoice | None = None,
    forwards: bool = False,  # one layer with the columns in order
) -> tuple[LayerChain, Floats, SideFrames]:
    """Remove side columns first, with the order of columns that has the highest likelihood."""
    turns = (False, True) if len(Y) > 1 and not forwards else (False,)
    starts = [settings] if settings else [LayerChain(backwards=one) for one in turns]
    tried = []
    for start in starts:
        side, W, slope = fit_side(Y, sample, levels, start.order(len(Y), 0), splits, choice)
        choice = side.choice  # the other order needs nearly the same smoothness
        gain = float(held_out(W, sample.c, splits, start).mean()) - slope
        tried.append((gain, start, W, side))
    _, how, W, side = max(tried, key=lambda one: one[0])
    if settings is None:
        choices = CHOICES[1:4] if forwards else CHOICES[1:] if len(Y) > 1 else CHOICES[2:4]
        how = choose(W, sample, splits, choices, start=how)
    return how, W, side


def fit_side(
    Y: Floats,
    sample: ClassSample,
    levels: SideLevels,
    order: NDArray[np.int64],
    splits: NDArray[np.intp],
    choice: SideChoice | None = None,
) -> tuple[SideFrames, Floats, float]:
    """Return the side frames, the readings in them, and the mean log slope of the frames."""
    shared, choice = fit_shared(Y, sample.c, order, sample.side, levels, splits, choice)
    rows = shared.at(levels)
    W = rows.inverse(Y)
    slope = float(rows.log_slope.mean())
    own = fit_own(W, sample.c, order, sample.side, levels, splits)
    for which, one in enumerate(own):
        mine = np.flatnonzero(sample.c == which)
        if one is not None:
            rows = one.at(levels.take(mine))
            W[:, mine] = rows.inverse(W[:, mine])
            slope += float(rows.log_slope.sum()) / len(sample.c)
    return SideFrames(shared, own, shared.typical(levels), choice=choice), W, slope


def choose(
    Y: Floats,
    sample: ClassSample,
    splits: NDArray[np.intp],
    choices: Choices | None = None,
    start: LayerChain | None = None,
) -> LayerChain:
    """Improve one kind of setting after another. One column skips settings for several.

    A second layer doubles the data on devices. Its gain must exceed its standard error.
    """
    known: dict[LayerChain, Floats] = {}

    def logs(how: LayerChain) -> Floats:
        if how not in known:
            known[how] = held_out(Y, sample.c, splits, how)
        return known[how]

    def score(how: LayerChain) -> float:
        return float(logs(how).mean())

    best = start or LayerChain()
    if choices is None:
        choices = CHOICES if len(Y) > 1 else CHOICES[2:4]
    for kind in choices:
        before = best
        best = max((replace(best, **change) for change in kind), key=score)  # type: ignore[arg-type]
        if best.depth > before.depth:
            gain = logs(best) - logs(before)
            if gain.mean() * np.sqrt(len(gain)) < gain.std():
                best = before
    return best


def fit_chain(
    Y: Floats, c: NDArray[np.intp], how: LayerChain
) -> tuple[tuple[AffineMap, ...], tuple[tuple[KnotheRosenblatt, ...], ...]]:
    """Return the frame and the layers of a chain per class; Y is (d, n)."""
    owns = [np.flatnonzero(c == k) for k in range(int(c.max()) + 1)]
    order = how.order(len(Y), 0)
    frames = tuple(triangular_frame(Y[:, own], order) for own in owns)
    W = np.empty_like(Y)
    for frame, own in zip(frames, owns, strict=True):
        W[:, own] = frame.inverse(Y[:, own])
    grid = grid_over(W)
    chain = []
    for turn in range(how.depth):
        chain.append(fit_layer(W, c, how.order(len(Y), turn), grid, how))
        for layer, own in zip(chain[-1], owns, strict=True):
            W[:, own] = layer.forward(W[:, own])
    return frames, tuple(zip(*chain, strict=True))


def triangular_frame(Y: Floats, order: NDArray[np.int64]) -> AffineMap:
    """Return the mean and the Cholesky root of (d, n) readings, with the columns in `order`.

    It is triangular, not symmetric, so it leaves the first column alone. A class may have a sharp
    edge in one column, given another. That edge then stays where the layers can remove it.
    """
    covariance = np.atleast_2d(np.cov(Y[order], bias=True))
    root = np.empty_like(covariance)
    root[np.ix_(order, order)] = np.linalg.cholesky(covariance)
    return AffineMap(root, Y.mean(axis=1))


def held_out(Y: Floats, c: NDArray[np.intp], splits: NDArray[np.intp], how: LayerChain) -> Floats:
    """Return the log-likelihoods of readings under maps fitted to the other folds."""
    found = []
    for fold in range(TRIED):
        out = splits == fold
        frames, layers = fit_chain(Y[:, ~out], c[~out], how)
        for k, (own, chain) in enumerate(zip(frames, layers, strict=True)):
            found.append(log_likelihoods(Y[:, out & (c == k)], own, chain))
    return np.concatenate(found)


def log_likelihoods(Y: Floats, own: AffineMap, chain: Sequence[KnotheRosenblatt]) -> Floats:
    """Return the log-likelihoods of (d, n) readings: normal, with the slopes of the steps."""
    W = own.inverse(Y)
    found = np.full(Y.shape[1], -np.linalg.slogdet(own.matrix)[1])
    for layer in chain:
        Z = layer.forward(W)
        found += layer.log_slope(W, Z).sum(axis=0)
        W = Z
    return np.asarray(found - 0.5 * (W * W + np.log(2 * np.pi)).sum(axis=0))


def folds(sample: ClassSample, random_state: RandomState) -> NDArray[np.intp]:
    """Assign subjects to folds, stratified by class."""
    (rng,) = streams(random_state, "folds")
    subjects, first = np.unique(sample.subjects, return_index=True)
    shuffled = rng.permutation(len(subjects))
    dealt = shuffled[np.argsort(sample.c[first][shuffled], kind="stable")]
    fold = np.empty(len(subjects), dtype=np.intp)
    fold[dealt] = np.arange(len(subjects)) % FOLDS
    return fold[sample.subjects]


def logs(sample: ClassSample) -> tuple[PieceCurve, ...]:
    """Return for each column a log curve if it increases the likelihood, else the identity.

    Both are compared as normal in each class, if all readings are above 0. The first knot is half
    the smallest reading, rounded down to a power of two. The last knot is chosen likewise. So the
    knots reveal no reading.
    """
    curves = list(plain(len(sample.cells)))
    for j, x in enumerate(sample.X.T):
        if x.min() <= 0:
            continue
        low, high = 2.0 ** (np.floor(np.log2(x.min())) - 1), 2.0 ** (np.ceil(np.log2(x.max())) + 1)
        gain = -np.log(x).sum()
        for own in sample.by_class():
            gain += len(own) * (np.log(own[:, j].std()) - np.log(np.log(own[:, j]).std()))
        if gain > 0:
            knots = np.geomspace(low, high, LOG_KNOTS)
            curves[j] = PieceCurve(knots, np.log(knots))
    return tuple(curves)
