"""Matches estimated in the boxes of trees, where people are counted by some of the columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.tables.fitting.trees.trials import GROWTHS, small_ground

from voile.core.errors import InfeasibleError, RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.choice import Choice
from voile.release.kit import StoredKit
from voile.report.sections import Prose
from voile.tables.fitting.fit import fit
from voile.tables.fitting.trees.estimating import CountedPeople
from voile.tables.fitting.trees.growing import grow_tree
from voile.tables.fitting.trees.measuring import BoxMeasures
from voile.tables.module import TABLES
from voile.tables.people.counted_boxes import CountedBoxes, estimate_each
from voile.tables.people.counts import distinct_rows
from voile.tables.scoring.group_measures import estimated_matches
from voile.tables.verbs.choose import choose
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.options import ApplyOptions, FitOptions
from voile.tables.verbs.report import sections
from voile.tables.verbs.report_data import report_data

ROLES = Roles.model_validate({"columns": dict.fromkeys(("age", "sex", "job", "town"), "quasi")})
NAMES = ("a", "b", "c")


def grown_on_estimates(seed, columns):
    """Grow a tree of a small table whose people are counted by these columns."""
    ground = small_ground(seed, limited=False)
    codes, people = distinct_rows(
        ground.counts.codes[:, columns],
        ground.counts.population,
        [ground.counts.sizes[j] for j in columns],
    )
    boxes = CountedBoxes(tuple(NAMES[j] for j in columns), codes, people, True)
    counts = replace(ground.counts, population=ground.counts.sample)
    measures = BoxMeasures(
        counts,
        estimated_matches(),
        None,
        (replace(ground, counts=counts).units.matches, 1.0),
        CountedPeople.of(counts, NAMES, boxes),
    )
    ground = replace(ground, counts=counts, measures=measures)
    try:
        return ground, boxes, grow_tree(ground, GROWTHS[seed % 3], loss_weight=0.5)
    except InfeasibleError:
        assume(False)


def in_counted_box(codes, low, high, columns):
    return ((codes >= low[columns]) & (codes <= high[columns])).all(axis=1)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([[0], [1, 2], [2], [0, 1, 2]]))
def test_a_policy_scores_what_each_box_is_estimated_from_its_counted_box(seed, columns):
    ground, boxes, grown = grown_on_estimates(seed, columns)
    counts, tree = ground.counts, grown.tree
    each = []
    for low, high in zip(*tree.bounds, strict=True):
        own = ((counts.codes >= low) & (counts.codes <= high)).all(axis=1)
        held = in_counted_box(counts.codes[:, columns], low, high, columns)
        crowd = in_counted_box(boxes.codes, low, high, columns)
        n = counts.sample[own].sum()
        each.append((n, counts.sample[held].sum(), boxes.people[crowd].sum()))
    found = estimate_each(*(np.array(one) for one in zip(*each, strict=True)))
    for links in range(len(grown.risk)):
        uncut = np.flatnonzero(tree.last < links)
        reached = [box for box in uncut if box == 0 or tree.last[tree.parents[box]] >= links]
        assert grown.risk[links] * ground.units.matches == pytest.approx(found[reached].sum())
    whole = np.flatnonzero(tree.part >= 0)
    parts = found[tree.part[whole]] + found[tree.part[whole] + 1]
    assert (parts >= found[whole] - 1e-9).all()


def population(seed, people):
    """People who live as they please, a tenth of whom came into the data."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.normal(45, 18, people), 18, 90).astype(int)
    job = rng.choice(list("abcdefgh"), people, p=np.arange(8, 0, -1) / 36)
    older = rng.random(people) < age / 110
    town = np.where(older, rng.choice(list("pqrst"), people), rng.choice(list("rstuvw"), people))
    table = pa.table({"age": age, "sex": rng.choice(["f", "m"], people), "job": job, "town": town})
    return table, table.filter(pa.array(rng.random(people) < 0.1))


def counted_by_two(table):
    return table.group_by(["age", "sex"]).aggregate([([], "count_all")]).rename_columns(
        ["age", "sex", "people"]
    )  # fmt: skip


def fitted(table, counted, **options) -> StoredKit:
    asked = {"family": "tree", "population": (counted,), "sampled": True, **options}
    asked = FitOptions.model_validate(asked)
    return fit(open_source(table), ROLES, asked, seed=1, progress=silent)


@pytest.mark.parametrize("k", [1, 5, 11])
def test_trees_pruned_on_the_estimate_are_as_risky_as_they_say(k):
    """At k = 1 small groups are taken for riskier than they are, not for safer."""
    table, sample = population(k, 40_000)
    content = TablesContent.of(fitted(sample, counted_by_two(table), k=k, risk="estimated-matches"))
    space, at = content.space, np.linspace(0, len(content.frontier) - 1, 8).astype(int)
    everybody = np.column_stack([d.codes(table[d.column]) for d in space.domains])
    for number in at:
        policy, risk = content.family.policy(int(number)), content.frontier.risk[number]
        groups, classes, _ = space.groups(policy)
        people = np.bincount(policy.box_of(everybody) + 1, minlength=policy.n_groups + 1)[1:]
        true = (classes.sample / people[groups[:, 0]]).sum()
        assert 0.9 < risk * space.matches / true < (1.5 if k == 1 else 1.2)
        assert content.score(policy).risk == pytest.approx(risk)
        assert content.figures.expected_matches[number] >= risk * space.matches - 1e-9


def test_a_fit_says_what_it_estimates_and_leads_with_what_it_counts(tmp_path):
    table, sample = population(3, 4_000)
    kit = fitted(sample, counted_by_two(table), risk="estimated-matches")
    kit.save(tmp_path / "kit")
    kit = StoredKit.load(tmp_path / "kit", "tables")
    content, chosen = TablesContent.of(kit), choose(kit, Choice(least_loss=True))
    assert chosen.figures["expected_matches"] > chosen.figures["estimated_relative_risk"] * 300
    assert "relative_risk" not in chosen.figures
    data = report_data(content, content.family.read_policy(chosen.policy))
    assert 0 < data["estimated_uniques"] < data["after"]["sample_uniques"]
    assert data["estimated_uniques"] <= data["estimated_matches"]
    assert data["estimated_matches"] < data["after"]["expected_matches"]
    assert content.absent["safe-harbor"]
    asked = ApplyOptions()
    chosen = choose(kit, Choice(max_relative_risk=0.9))
    release = TABLES.apply(
        kit, chosen, open_source(sample), None, asked, force=True, progress=silent
    )
    text = " ".join(
        line
        for section in sections(release, (), audience="internal")
        for block in section.blocks
        if isinstance(block, Prose)
        for line in block.paragraphs
    )
    assert "stimated to be unique in the population" in text
    assert "independently of the other columns and of each other" in text
    assert "which has the least loss with the estimated relative risk at 90% or less" in text
    for figures in (release.public["figures"], release.private["chosen"]["figures"]):
        assert "estimated_relative_risk" in figures
        assert "relative_risk" not in figures


@pytest.mark.parametrize(
    "options", [{"family": "both"}, {"family": "global"}, {"sampled": False}, {"population": ()}]
)
def test_what_cannot_be_estimated_is_refused(options):
    table, sample = population(4, 2_000)
    with pytest.raises(RequestError, match="matches are estimated"):
        fitted(sample, counted_by_two(table), risk="estimated-matches", **options)
