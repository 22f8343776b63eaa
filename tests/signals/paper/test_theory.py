"""The paper's claims, for random laws: after the map, a reading tells nothing of the class.

Exact laws, not fitted ones: each family's frames are made from the true parameters, and the
density of z in each class follows from the law of x by change of variables.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.steps import AffineMap
from voile.signals.model.maps.bases import BASES, class_steps
from voile.signals.model.maps.fitted import FittedLaws, normal_law, plain
from voile.signals.paper import closed_forms

CLASSES = 3
SEEDS = st.integers(0, 2**32)
EXAMPLES = settings(max_examples=40)


def laws(family, rng):
    """Return true frames, the tabulated law, and log density of (1 or 2, n) readings per class."""
    if family == "normal":
        means = rng.normal(0, 5, (CLASSES, 2))
        covs = [A @ A.T + 0.2 * np.eye(2) for A in rng.normal(0, 1, (CLASSES, 2, 2))]
        frames = [closed_forms.normal_frame(m, S) for m, S in zip(means, covs, strict=True)]
        pdfs = [
            lambda x, m=m, S=S: stats.multivariate_normal(m, S).logpdf(x.T)
            for m, S in zip(means, covs, strict=True)
        ]
        return frames, normal_law(2), pdfs
    scale, low = rng.uniform(0.5, 9, CLASSES), rng.normal(0, 9, CLASSES)
    if family == "exponential":
        frames = [closed_forms.scale_frame(np.array([s])) for s in scale]
        law = closed_forms.exponential_law(1)
        pdfs = [stats.expon(scale=s).logpdf for s in scale]
    elif family == "gamma":
        k = rng.uniform(0.5, 9)
        frames = [closed_forms.scale_frame(np.array([s])) for s in scale]
        law = closed_forms.gamma_law(np.array([k]))
        pdfs = [stats.gamma(k, scale=s).logpdf for s in scale]
    else:
        ends = zip(low, low + scale, strict=True)
        frames = [closed_forms.uniform_frame(*map(np.atleast_1d, end)) for end in ends]
        law = closed_forms.uniform_law(1)
        pdfs = [stats.uniform(a, s).logpdf for a, s in zip(low, scale, strict=True)]
    return frames, law, [lambda x, f=f: f(x[0]) for f in pdfs]


def mapped(family, seed, base="barycentre", strength=1.0):
    rng = np.random.default_rng(seed)
    frames, law, pdfs = laws(family, rng)
    d = len(law)
    shares = rng.dirichlet(np.ones(CLASSES))
    known = FittedLaws(shares, tuple(frames), ((),) * CLASSES, law, plain(d))
    codec = Codec(np.arange(CLASSES), (), class_steps(known, base, strength))
    x = frames[0].forward(np.abs(rng.normal(0.5, 0.2, (d, 60))).clip(0.05, 0.95))
    return rng, codec, pdfs, x


def densities(codec, pdfs, Z):
    """Return the log density of z in each class: of x, and the volume that becomes one of z."""
    d, h = len(Z), 1e-4
    rows = []
    for k, pdf in enumerate(pdfs):
        X = codec.inverse(Z, k)
        slopes = np.stack(
            [
                codec.inverse(Z + h * np.eye(d)[:, [j]], k)
                - codec.inverse(Z - h * np.eye(d)[:, [j]], k)
                for j in range(d)
            ]
        ) / (2 * h)
        rows.append(pdf(X) + np.linalg.slogdet(slopes.transpose(2, 0, 1))[1])
    return np.stack(rows)


def posterior(log_density, prior):
    weight = np.exp(log_density - log_density.max(axis=0)) * prior[:, None]
    return weight / weight.sum(axis=0)


FAMILIES = pytest.mark.parametrize("family", ["normal", "exponential", "gamma", "uniform"])


@FAMILIES
@EXAMPLES
@given(SEEDS)
def test_the_posterior_is_the_prior_whatever_the_adversary_believes(family, seed):
    """Theorems 2 to 5 through Theorem 1: p(c | z, s) = p(c | s), for any p(c | s)."""
    rng, codec, pdfs, x = mapped(family, seed)
    found = densities(codec, pdfs, codec.forward(x, 0))
    for prior in rng.dirichlet(np.ones(CLASSES), 3):
        assert posterior(found, prior) == pytest.approx(
            np.broadcast_to(prior[:, None], found.shape), abs=1e-5
        )


@FAMILIES
@EXAMPLES
@given(SEEDS)
def test_no_bits_are_told_whatever_subjects_there_are(family, seed):
    """Corollary 1: I(Z; C | S) = sum of p(s) I(Z; C | S = s) = 0 for any p(s) and p(c | s)."""
    rng, codec, pdfs, x = mapped(family, seed)
    found = densities(codec, pdfs, codec.forward(x, 0))
    total = 0.0
    for p_s, prior in zip(
        rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(CLASSES), 4), strict=True
    ):
        after = posterior(found, prior)
        total += p_s * (after * np.log2(after / prior[:, None])).sum(axis=0).mean()
    assert abs(total) < 1e-4


@FAMILIES
@EXAMPLES
@given(SEEDS)
def test_every_class_has_one_density_and_it_is_the_law_s(family, seed):
    """The lemmas: x of class c, mapped, has a density in which c no longer occurs."""
    _, codec, pdfs, x = mapped(family, seed)
    found = densities(codec, pdfs, codec.forward(x, 0))
    assert np.ptp(found, axis=0).max() < 1e-4


@FAMILIES
@EXAMPLES
@given(SEEDS, st.sampled_from(sorted(BASES)), st.floats(0.05, 1))
def test_the_base_is_one_injective_map_put_after_all_classes(family, seed, base, strength):
    """Section 6.2: readings that look alike at the barycentre look alike on every base."""
    _, plain_codec, _, x = mapped(family, seed, "barycentre", strength)
    _, other, _, _ = mapped(family, seed, base, strength)
    z = plain_codec.forward(x, 0)
    for k in range(1, CLASSES):
        twin = plain_codec.inverse(z, k)
        assert other.forward(twin, k) == pytest.approx(other.forward(x, 0), abs=1e-6)
        assert other.inverse(other.forward(twin, k), k) == pytest.approx(twin, abs=1e-6)


@FAMILIES
@EXAMPLES
@given(SEEDS, st.sampled_from(sorted(BASES)))
def test_at_strength_nought_nothing_changes(family, seed, base):
    _, codec, _, x = mapped(family, seed, base, 0.0)
    for k in range(CLASSES):
        assert codec.forward(x, k) == pytest.approx(x, abs=1e-8)


def test_a_barycentre_of_normals_lies_between_them():
    one, other = (AffineMap(np.eye(1) * s, np.array([m])) for m, s in ((50.0, 4.0), (90.0, 8.0)))
    known = FittedLaws(np.array([0.25, 0.75]), (one, other), ((), ()), normal_law(1), plain(1))
    middle = known.barycentre()
    assert (middle.shift[0], middle.matrix[0, 0]) == (80.0, 7.0)
