"""What a line says of a release is enough to judge it, and holds no value and no count."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.joint.worlds import PEOPLE, hash_of, shown, space_of, tree_of

from voile.tables.joint.disclosed import SpaceNames, rules_of
from voile.tables.joint.figures import JoinedReleases, ShownRelease, joint_figures
from voile.tables.people.counts import Constraints
from voile.tables.policies.policy import Policy


def disclosed(names, one):
    rules = rules_of(one.rules or Constraints())
    line = {"rules": rules, "sensitive": [], **names.grouping(one.policy)}
    return json.loads(json.dumps(line))


@settings(deadline=None, max_examples=60)
@given(PEOPLE, PEOPLE, st.data())
def test_a_release_is_read_back_as_it_was(sample, others, data):
    space = space_of(sample, others)
    names = SpaceNames(space, hash_of)
    releases = [data.draw(shown(space)) for _ in range(2)]
    read = [names.read_disclosed(disclosed(names, one), ()) for one in releases]
    assert all(known for _, known in read)
    own, again = joint_figures(space, releases), joint_figures(space, [one for one, _ in read])
    assert (own.matches, own.k) == (pytest.approx(again.matches), again.k)


@settings(deadline=None, max_examples=60)
@given(PEOPLE, PEOPLE, st.data())
def test_of_a_column_in_another_order_everything_is_taken_to_be_out(sample, others, data):
    space = space_of(sample, others)
    towns = sorted({town for _, _, town in [*sample, *others]}, reverse=True)
    other = space_of(sample, others, towns=towns)
    line = data.draw(shown(space))
    read, known = SpaceNames(other, hash_of).read_disclosed(
        disclosed(SpaceNames(space, hash_of), line), ()
    )
    assert not known
    exact = joint_figures(space, [line])
    assert joint_figures(other, [read]).matches >= exact.matches - 1e-9


@settings(deadline=None, max_examples=60)
@given(PEOPLE, PEOPLE, st.integers(0, 2), st.integers(0, 2))
def test_a_tree_of_another_time_groups_its_own_values_as_then_and_others_stand_alone(
    sample, come, first, second
):
    then, now = space_of(sample), space_of([*sample, *come])
    tree = tree_of(then, first, second)
    line = json.loads(json.dumps(SpaceNames(then, hash_of).grouping(tree)))
    names = SpaceNames(now, hash_of)
    domains = {names.column(d.column): SpaceNames(then, hash_of).values(d) for d in then.domains}
    label, _ = JoinedReleases(now, [names.read_at_another_time(line, domains)]).groups
    known: dict[int, int] = {}
    for code, own in zip(now.counts.codes, label, strict=True):
        values = [d.values[x] for d, x in zip(now.domains, code, strict=True)]
        if any(value not in d.values for d, value in zip(then.domains, values, strict=True)):
            assert (label == own).sum() == 1
            continue
        position = [d.position[x] for d, x in zip(then.domains, values, strict=True)]
        box = int(tree.box_of(np.array([position], np.int32))[0])
        assert known.setdefault(box, own) == own
    assert len(set(known.values())) == len(known)


def test_a_tree_that_cut_another_column_shows_every_value():
    sample = [(a, s, t) for a in range(3) for s in "fm" for t in ("ash", "elm")]
    space = space_of(sample)
    names = SpaceNames(space, hash_of)
    line = names.grouping(tree_of(space, 0, 1))
    line["tree"][0][1] = "another column"
    domains = {names.column(d.column): names.values(d) for d in space.domains}
    label, _ = JoinedReleases(space, [names.read_at_another_time(line, domains)]).groups
    assert len(set(label.tolist())) == len(label)


def test_who_is_counted_is_the_same_in_any_order_of_rows_and_values():
    sample = [(0, "f", "ash"), (1, "m", "elm"), (1, "m", "oak"), (1, "m", "oak")]
    names = SpaceNames(space_of(sample), hash_of)
    again = space_of(sample[::-1], towns=["oak", "elm", "ash"])
    assert names.counts_hash == SpaceNames(again, hash_of).counts_hash
    more = SpaceNames(space_of([*sample, sample[0]]), hash_of)
    assert names.counts_hash != more.counts_hash


def test_two_trees_are_two_releases():
    sample = [(a, s, t) for a in range(3) for s in "fm" for t in ("ash", "elm", "oak")]
    space = space_of(sample)
    names = SpaceNames(space, hash_of)
    trees = [ShownRelease(tree_of(space, 0, 1)), ShownRelease(tree_of(space, 2, 1))]
    read = [names.read_disclosed(disclosed(names, one), ())[0] for one in trees]
    both = joint_figures(space, read)
    assert both.matches == pytest.approx(joint_figures(space, trees).matches)
    assert both.matches > joint_figures(space, read[:1]).matches


def test_a_line_holds_no_value_and_no_count():
    sample = [(i, "f" if i % 2 else "m", f"CANARY{i}") for i in range(987_000, 987_020)]
    space = space_of(sample)
    names = SpaceNames(space, hash_of)
    for policy in (Policy(space.domains, space.bottom), tree_of(space, 2, 0)):
        text = json.dumps({**names.grouping(policy), "counted": names.counts_hash})
        assert "CANARY" not in text
        assert "9870" not in text
        assert not {"age", "sex", "town"} & set(text.replace('"', " ").split())


def test_groups_suppressed_for_columns_unknown_here_are_taken_to_be_out():
    sample = [(0, "f", "ash"), (1, "m", "elm"), (1, "m", "oak")]
    space = space_of(sample)
    names = SpaceNames(space, hash_of)
    rules = {**rules_of(Constraints(suppress=0.9)), "l_diversity": 2}
    line = {"rules": rules, "sensitive": ["x"], **names.grouping(Policy(space.domains, space.top))}
    read, _ = names.read_disclosed(line, ())
    assert read.rules is None
    assert joint_figures(space, [read]).matches == pytest.approx(1)


def test_bits_survive_a_column_that_is_out_of_order():
    sample = [(a, s, t) for a in range(4) for s in "fm" for t in ("ash", "elm")]
    space = space_of(sample)
    policy = Policy(space.domains, np.array([True, False, False, True, False]))
    names = SpaceNames(space, hash_of)
    read, _ = names.read_disclosed(disclosed(names, ShownRelease(policy)), ())
    assert read.policy == policy
