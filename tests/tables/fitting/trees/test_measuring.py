"""Trees pruned by other risks and losses than the usual ones."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.choice import Choice
from voile.release.kit import StoredKit
from voile.tables.fitting.fit import fit
from voile.tables.fitting.forests import grow
from voile.tables.fitting.space import PolicySpace
from voile.tables.module import TABLES
from voile.tables.people.counts import Constraints
from voile.tables.policies.scores import score_policy
from voile.tables.scoring.group_measures import GroupMeasure
from voile.tables.trees.policy import TreePolicy
from voile.tables.verbs.choose import choose
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.options import ApplyOptions, FitOptions
from voile.tables.verbs.verify import verify

QUASI = ["age", "sex", "town"]
ROLES = Roles.model_validate({"columns": {**dict.fromkeys(QUASI, "quasi"), "ill": "sensitive"}})
IN_PAIRS = GroupMeasure(
    "in_pairs",
    "People in groups of fewer than 3",
    "subjects",
    "sum of n over groups, g < 3",
    generalising="falls",
    each=lambda groups: groups.subjects * (groups.group < 3),
)


def people(rows=300):
    rng = np.random.default_rng(2)
    age = rng.integers(18, 60, rows)
    ill = np.where(rng.random(rows) < age / 80, "gout", rng.choice(["flu", "cold"], rows))
    sex, town = rng.choice(["f", "m"], rows), rng.choice(list("abcde"), rows)
    return pa.table({"age": age, "sex": sex, "town": town, "ill": ill})


def fitted(**options) -> StoredKit:
    asked = FitOptions.model_validate({"family": "tree", **options})
    return fit(open_source(people()), ROLES, asked, seed=1, progress=silent)


def boxes_and_combinations(space, policy):
    """Return which box each row is in, and which combination of values it has."""
    codes = np.column_stack([d.codes(people()[d.column]) for d in space.domains])
    return policy.box_of(codes), np.unique(codes, axis=0, return_inverse=True)[1]


def sum_of_small(group):
    n = np.bincount(group)
    return float(((n > 0) & (n < 11)).sum())


def information_on(outcome, group):
    """I(group; outcome) of the rows, in nats."""

    def entropy(*columns):
        shares = np.unique(np.column_stack(columns), axis=0, return_counts=True)[1] / len(group)
        return float(-(shares * np.log(shares)).sum())

    return entropy(group) + entropy(outcome) - entropy(group, outcome)


def spread_over(frontier):
    return np.linspace(0, len(frontier) - 1, 9).astype(int).tolist()


def test_small_groups_are_what_trees_are_pruned_by():
    content = TablesContent.of(fitted(risk="small-groups", k=2))
    for number in spread_over(content.frontier):
        policy = content.family.policy(number)
        box, combination = boxes_and_combinations(content.space, policy)
        risk = sum_of_small(box) / sum_of_small(combination)
        assert content.frontier.risk[number] == pytest.approx(risk)
        assert content.score(policy).risk == pytest.approx(risk)
        matches = content.figures.expected_matches[number]
        assert matches == pytest.approx(len(np.unique(box)))
    assert content.frontier.risk[0] == 0


def test_information_about_an_outcome_is_what_trees_are_pruned_by():
    kit = fitted(loss="mutual-information", outcomes=("ill",))
    content, ill = TablesContent.of(kit), np.unique(people()["ill"], return_inverse=True)[1]
    for number in spread_over(content.frontier):
        policy = content.family.policy(number)
        box, combination = boxes_and_combinations(content.space, policy)
        lost = 1 - information_on(ill, box) / information_on(ill, combination)
        assert content.frontier.loss[number] == pytest.approx(lost, abs=1e-9)
        assert content.score(policy).loss == pytest.approx(lost, abs=1e-9)


def test_a_measure_of_ones_own_is_what_trees_are_pruned_by():
    space = PolicySpace.of(people(), quasi=QUASI, risk=IN_PAIRS, constraints=Constraints(k=1))
    forest = grow(space, silent)
    for number in spread_over(forest.frontier):
        tree, links = forest.frontier.policies[number].tolist()
        policy = TreePolicy(space.domains, forest.trees[tree], tree, links)
        sizes = [np.bincount(one) for one in boxes_and_combinations(space, policy)]
        small = [own[own < 3].sum() for own in sizes]
        assert forest.frontier.risk[number] == pytest.approx(small[0] / small[1])
        assert score_policy(space, policy).risk == pytest.approx(small[0] / small[1])


@pytest.mark.parametrize(
    "options",
    [
        {"risk": "small-groups"},
        {"loss": "mutual-information", "outcomes": ("ill",)},
        {"loss": "information"},
    ],
)
def test_both_families_stand_on_one_frontier_of_any_measures(options):
    kit = fitted(family="both", evaluations=5_000, k=2, **options)
    assert "trees" not in TablesContent.of(kit).absent
    assert "tree" in kit.tables["frontier"].column("family").to_pylist()
    chosen = choose(kit, Choice(least_loss=True))
    release = TABLES.apply(
        kit, chosen, open_source(people()), None, ApplyOptions(), force=True, progress=silent
    )
    assert all(check.holds is not False for check in verify(release))
