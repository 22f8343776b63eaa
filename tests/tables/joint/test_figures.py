"""Releases joined row by row, against comparing every person with every other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.joint.worlds import PEOPLE, joined, linked, shown, space_of

from voile.tables.joint.figures import ShownRelease, joint_figures
from voile.tables.people.counts import Constraints
from voile.tables.policies.policy import Policy

DRAWN = settings(deadline=None, max_examples=60)


def some(data, space, least, most):
    return [data.draw(shown(space)) for _ in range(data.draw(st.integers(least, most)))]


@DRAWN
@given(PEOPLE, PEOPLE, st.data())
def test_the_figures_are_those_of_the_long_way(sample, others, data):
    space = space_of(sample, others)
    releases = some(data, space, 1, 3)
    found = joint_figures(space, releases)
    matches, k = joined(space, releases, sample, others)
    assert found.matches == pytest.approx(matches)
    assert found.k == k
    assert found.relative == pytest.approx(matches / space.evaluator.matches)


@DRAWN
@given(PEOPLE, PEOPLE, st.data())
def test_the_bound_is_never_below_what_linking_finds(sample, others, data):
    space = space_of(sample, others)
    releases = some(data, space, 2, 3)
    known = [data.draw(st.integers(0, 2)) for _ in sample]
    attack = linked(space, releases, sample, others, known)
    assert joint_figures(space, releases).matches >= attack - 1e-9


@DRAWN
@given(PEOPLE, PEOPLE, st.data())
def test_one_more_release_never_lowers_the_risk(sample, others, data):
    space = space_of(sample, others)
    releases = some(data, space, 2, 4)
    fewer, more = (joint_figures(space, each) for each in (releases[:-1], releases))
    assert more.matches >= fewer.matches - 1e-9


@DRAWN
@given(PEOPLE, PEOPLE, st.data())
def test_releases_that_suppress_nothing_join_to_the_union_of_their_cuts(sample, others, data):
    space = space_of(sample, others)
    size = space.n_bits
    bits = [data.draw(st.lists(st.booleans(), min_size=size, max_size=size)) for _ in range(3)]
    each = [ShownRelease(Policy(space.domains, np.array(own))) for own in bits]
    union = np.logical_or.reduce(np.array(bits))
    figures = space.evaluator.figures(union[None, :])
    assert joint_figures(space, each).matches == pytest.approx(figures.expected_matches[0])


@DRAWN
@given(PEOPLE, PEOPLE, st.data())
def test_one_release_has_the_kits_own_figures(sample, others, data):
    rules = Constraints(k=2, suppress=0.9)
    space = space_of(sample, others)
    size = space.n_bits
    bits = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    space.constraints = rules
    found = joint_figures(space, [ShownRelease.of(Policy(space.domains, bits), rules)])
    figures = space.evaluator.figures(bits[None, :])
    assert found.matches == pytest.approx(figures.expected_matches[0], abs=1e-9)


def test_two_releases_that_each_cut_another_column_single_people_out():
    sample = [(age, sex, "ash") for age in (0, 1) for sex in ("f", "m")] + [(2, "f", "elm")]
    space = space_of(sample)
    ages = ShownRelease(Policy(space.domains, np.array([True, True, False, False])))
    sexes = ShownRelease(Policy(space.domains, np.array([False, False, True, False])))
    assert joint_figures(space, [ages]).matches == pytest.approx(3)
    assert joint_figures(space, [sexes]).matches == pytest.approx(2)
    assert joint_figures(space, [ages, sexes]).matches == pytest.approx(5)
    assert joint_figures(space, [ages, sexes]).k == 1


def test_nothing_released_is_no_risk():
    space = space_of([(0, "f", "ash"), (1, "m", "elm")])
    none = ShownRelease.of(Policy(space.domains, space.bottom), Constraints(k=5, suppress=0.9))
    assert joint_figures(space, [none]).matches == 0
    assert joint_figures(space, [none]).k == float("inf")
    assert joint_figures(space, []).matches == 0
