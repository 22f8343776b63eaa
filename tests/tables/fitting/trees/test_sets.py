"""Columns without an order: a cut parts their values in any two sets, and the best is found."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.fitting.trees.test_growth import is_allowed, nats
from tests.tables.fitting.trees.trials import GROWTHS, small_ground

from voile.core.errors import InfeasibleError, RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.choice import Choice
from voile.release.kit import StoredKit
from voile.tables.fitting.fit import fit
from voile.tables.fitting.space import PolicySpace
from voile.tables.fitting.trees.growing import grow_tree
from voile.tables.module import TABLES
from voile.tables.recoding.boxes import read_codebook
from voile.tables.verbs.choose import choose
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.expand import expand
from voile.tables.verbs.options import ApplyOptions, AttackOptions, FitOptions
from voile.tables.verbs.report import sections
from voile.tables.verbs.verify import verify

FREE = (True, False, True)


def unordered(seed, *, limited):
    ground = small_ground(seed, limited=limited)
    rules = replace(ground.constraints, forbidden=None)
    return replace(ground, constraints=rules, free=FREE, nullable=(False,) * 3)


def values_of(tree, box):
    """Return the values that a box has of each column."""
    low, high = (ends[box] for ends in tree.bounds)
    sets = [
        [v for v in range(size) if tree.sets[box, j] >> v & 1] if FREE[j] else range(a, b + 1)
        for j, (size, a, b) in enumerate(zip(tree.sizes, low, high, strict=True))
    ]
    return [set(own) for own in sets]


def rows_in(ground, held):
    columns = zip(ground.counts.codes.T, held, strict=True)
    return np.logical_and.reduce([np.isin(own, list(values)) for own, values in columns])


def two_parts(ground, held, own, column):
    """Yield the first part of each way to cut a column: every set, or every run of an order.

    A value without a record goes with the one that has some before it, else with the first.
    """
    seen = sorted(set(ground.counts.codes[own & (ground.counts.sample > 0), column].tolist()))
    if not FREE[column]:
        yield from ({0} for _ in seen[1:])  # of two values
        return
    before = {v: max((s for s in seen if s <= v), default=seen[0]) for v in held[column]}
    for size in range(1, len(seen)):
        for chosen in combinations(seen[:-1], size):
            yield {v for v in held[column] if before[v] in chosen}


def gains(ground, growth, held):
    """Return what each allowed cut of a box gains, by (column, first part)."""
    own, found = rows_in(ground, held), {}
    total = ground.counts.sample[own].sum()
    share = growth.coarse if total > growth.large else growth.fine

    def cost(part, column, width):
        n, people = ground.counts.sample[part].sum(), ground.counts.population[part].sum()
        counted = np.bincount(ground.counts.codes[part, column], ground.counts.sample[part])
        hidden = nats(n) - sum(map(nats, counted))
        return (
            growth.weight / ground.units.matches * n / max(n, people, 1)
            + share * ground.units.spread * (n * math.log(width) - nats(n))
            + (1 - share) * ground.units.hidden[column] * hidden
        )

    for j, values in enumerate(held):
        for first in two_parts(ground, held, own, j):
            left = own & np.isin(ground.counts.codes[:, j], list(first))
            if is_allowed(ground, left) and is_allowed(ground, own & ~left):
                after = cost(left, j, len(first)) + cost(own & ~left, j, len(values - first))
                found[j, frozenset(first)] = cost(own, j, len(values)) - after
    return found


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(GROWTHS), st.booleans())
def test_each_cut_gains_most_of_all_sets_and_no_allowed_one_is_left(seed, growth, limited):
    ground = unordered(seed, limited=limited)
    try:
        tree = grow_tree(ground, growth, loss_weight=0.5).tree
    except InfeasibleError:
        return
    assert tree.is_whole
    codes = ground.counts.codes
    placed = tree.place(codes)
    for box in range(len(tree)):
        held = values_of(tree, box)
        assert tree.widths[box].tolist() == [len(values) for values in held]
        found = gains(ground, growth, held)
        if tree.part[box] < 0:
            assert not found
            assert ((placed == box) == rows_in(ground, held)).all()
            continue
        parts = [values_of(tree, tree.part[box] + side) for side in range(2)]
        j = int(tree.column[box])
        assert parts[0][j] | parts[1][j] == held[j]
        assert not parts[0][j] & parts[1][j]
        assert found[j, frozenset(parts[0][j])] >= max(found.values()) - 1e-9


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_boxes_that_are_cut_hold_what_their_parts_hold(seed):
    ground = unordered(seed, limited=False)
    tree = grow_tree(ground, GROWTHS[0], loss_weight=0.5).tree
    held = tree.add_up(ground.counts.codes, ground.counts.sample)
    own = [
        ground.counts.sample[rows_in(ground, values_of(tree, b))].sum() for b in range(len(tree))
    ]
    assert held == pytest.approx(own)


def workers(rows=600, seed=5):
    """People of seven jobs, three of which are much alike, whatever their order."""
    rng = np.random.default_rng(seed)
    job = rng.choice(list("abcdefg"), rows)
    alike = np.isin(job, ["a", "d", "f"])
    age = np.where(alike, rng.integers(20, 30, rows), rng.integers(30, 70, rows))
    jobs = [None if rng.random() < 0.05 else one for one in job.tolist()]
    ill = rng.choice(["flu", "gout"], rows)
    return pa.table({"age": age, "job": pa.array(jobs, pa.string()), "ill": ill})


def roles_of(job):
    columns = {"age": "quasi", "job": {"role": "quasi", **job}, "ill": "sensitive"}
    return Roles.model_validate({"columns": columns})


def fitted(roles, **options):
    asked = FitOptions.model_validate({"family": "tree", "k": 5, "l_diversity": 2, **options})
    return fit(open_source(workers()), roles, asked, seed=1, progress=silent)


def applied(kit, table, out=None, **options):
    chosen = choose(kit, Choice(least_loss=True))
    asked = ApplyOptions.model_validate(options)
    return TABLES.apply(kit, chosen, open_source(table), out, asked, force=True, progress=silent)


def test_a_release_shows_any_sets_of_values_in_disjoint_boxes_of_k(tmp_path):
    kit = fitted(roles_of({"order": "none"}))
    kit.save(tmp_path / "kit")
    kit = StoredKit.load(tmp_path / "kit", "tables")
    for table in (workers(), workers(seed=6)):
        release = applied(kit, table, tmp_path / "out.csv")
        assert all(check.holds is not False for check in verify(release))
        book = read_codebook(release.public["policy"])
        assert book.are_disjoint
        codes, n = np.unique(book.recode(table.select(["age", "job"])), axis=0, return_counts=True)
        assert n.min() >= 5
        shown = release.rows().read().group_by(["age", "job"]).aggregate([([], "count_all")])
        assert sorted(shown["count_all"].to_pylist()) == sorted(n.tolist())
        assert len(codes) == len(book.boxes)
    jobs = set(release.rows().read()["job"].to_pylist())
    order = TablesContent.of(kit).space.domains[1].values
    runs = {"|".join(sorted(order[a:b])) for a in range(7) for b in range(a + 1, 8)}
    assert any(job not in runs for job in jobs if "missing" not in job)
    chosen = choose(kit, Choice(least_loss=True))
    content = TablesContent.of(kit)
    policy = content.family.read_policy(chosen.policy)
    scored = content.score(policy)
    assert scored.loss == pytest.approx(chosen.figures["loss"])
    assert scored.ncp == pytest.approx(chosen.figures["ncp"])
    assert policy.describe().count("\n") == policy.n_groups - 1
    for audience in ("public", "internal"):
        assert sections(release, (), audience=audience)


def test_sets_lose_no_more_than_runs_of_an_order_do():
    least = [
        pc.min(fitted(roles_of(job), l_diversity=1).tables["frontier"]["loss"]).as_py()
        for job in ({}, {"order": "none"})
    ]
    assert least[1] < least[0]


@pytest.mark.parametrize(
    ("table", "job", "says"),
    [
        (workers().set_column(1, "job", pa.array(list("abcdefghijklm") * 46 + ["a", "b"])), {},
         "column job: it has 13 values"),
        (workers(), {"keep_cuts": ["a"]}, "and there is none"),
    ],
)  # fmt: skip
def test_what_cannot_be_parted_in_sets_is_refused(table, job, says):
    settings = {"job": {"order": "none", **job}}
    with pytest.raises(RequestError, match=says):
        PolicySpace.of(table, quasi=["age", "job"], settings=settings)


def test_a_set_of_values_has_no_two_bounds():
    with pytest.raises(RequestError, match="column job: its values have no order"):
        applied(fitted(roles_of({"order": "none"})), workers(), bounds=True)


def test_what_is_expanded_of_a_set_is_each_of_its_values():
    release = applied(fitted(roles_of({"order": "none"})), workers())
    shown = release.rows().read()["job"].to_pylist()
    whole = expand(release, ("job",), weight="weight", row="row").to_pylist()
    for row in whole:
        values = shown[row["row"]].split("|")
        assert (row["job"] or "missing") in values
    assert sum(row["weight"] for row in whole) == pytest.approx(len(shown))


def test_an_adversary_links_people_to_sets_as_to_intervals():
    release = applied(fitted(roles_of({"order": "none"}), l_diversity=1), workers())
    people = range(workers().num_rows)
    truth = workers().append_column("who", pa.array([f"person {i}" for i in people]))
    asked = AttackOptions.model_validate({"person": "who", "register": truth, "overlap": 1.0})
    linkage = TABLES.attack(release, open_source(truth), asked, seed=1, progress=silent)[0]
    low, high = linkage.findings[0].rate.interval()
    assert low <= release.private["figures"]["prosecutor_mean"] <= high
