"""The chosen attacker finds rhythms, and its figure is that of people it did not choose on."""

from __future__ import annotations

import numpy as np
import pytest

from voile.signals.attack.choice import infer_each, infer_others, measure_auc, measure_aucs
from voile.signals.attack.course_views import view_courses, view_moments


def weekends(n, seed, high=1.5):
    """Return messages of four weeks, of which weekends are higher in one class, and the classes."""
    rng = np.random.default_rng(seed)
    c = np.arange(n) % 2
    Z = rng.normal(size=(n, 28, 1))
    Z[:, :, 0] += np.where((np.arange(28) % 7 >= 5) & (c == 1)[:, None], high, 0)
    return (Z - Z.mean(axis=1, keepdims=True)) / Z.std(axis=1, keepdims=True), c


def test_a_weekend_rhythm_is_found_that_moments_miss():
    Z, c = weekends(240, 1, high=0.8)
    all_views = view_courses(Z)
    aucs = {
        name: max(measure_aucs(infer_each(views, c, 0).chances, c))
        for name, views in (("all", all_views), ("moments", {"moments": view_moments(Z)}))
    }
    assert aucs["all"] > 0.75
    assert aucs["all"] > aucs["moments"] + 0.1


def test_of_noise_the_chosen_attacker_finds_nothing():
    rng = np.random.default_rng(2)
    found = []
    for seed in range(4):
        c = rng.permutation(np.arange(160) % 2)
        chances = infer_each(view_courses(rng.normal(size=(160, 14, 1))), c, seed).chances
        found.append(measure_auc(chances[:, 1], c == 1))
    assert np.mean(found) == pytest.approx(0.5, abs=0.07)


def test_nothing_of_those_who_are_tried_changes_the_choice():
    Z, c = weekends(120, 3)
    learned = np.arange(120) < 80
    shuffled = c.copy()
    shuffled[~learned] = 1 - c[~learned]
    one, other = (infer_others(view_courses(Z), of, learned, 0) for of in (c, shuffled))
    assert one.by == other.by
    assert (one.chances == other.chances).all()


def test_a_lacking_reading_is_no_number_of_a_view():
    Z, _ = weekends(30, 4)
    Z[::3, ::4] = np.nan
    assert all(np.isfinite(view).all() for view in view_courses(Z).values())
