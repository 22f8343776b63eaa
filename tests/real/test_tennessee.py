"""Adult placed in Tennessee: the measured figures of the pair, and the verbs on it."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow.parquet as pq
import pytest

from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.choice import Choice
from voile.release.kit import StoredKit
from voile.tables.fitting.fit import fit
from voile.tables.fitting.space import PolicySpace
from voile.tables.module import TABLES
from voile.tables.policies.safe_harbor import SafeHarborWarning, safe_harbor
from voile.tables.verbs.choose import choose
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.options import ApplyOptions, AttackOptions, FitOptions
from voile.tables.verbs.verify import verify

pytestmark = pytest.mark.real
QUASI = ["age", "sex", "race", "zip"]


@pytest.fixture(scope="module")
def folder(data_set):
    return data_set("tennessee")


@pytest.fixture(scope="module")
def space(folder):
    return PolicySpace.of(folder / "adult.parquet", folder / "population.parquet", QUASI)


def test_the_pair_has_its_known_figures(space):
    assert space.n_bits == 734
    assert [len(domain) for domain in space.domains] == [106, 2, 5, 625]
    assert space.evaluator.matches == pytest.approx(1235.89, abs=0.005)
    seen = space.counts.sample > 0
    assert seen.sum() == 20_940
    assert (seen & (space.counts.population == 1)).sum() == 322
    assert space.counts.subjects == 32_561
    assert space.counts.population.sum() == 6_426_679
    before = space.disclosure(space.policy(space.bottom))
    assert before["population_uniques"] == 322
    assert before["expected_matches"] == pytest.approx(1235.89, abs=0.005)


def test_the_ends_of_the_lattice(space):
    risk, loss = space.evaluate(np.array([space.bottom, space.top]))
    assert risk[0] == pytest.approx(1, abs=1e-12)
    assert loss[1] == pytest.approx(1, abs=1e-12)
    assert loss[0] == pytest.approx(0, abs=1e-12)
    assert risk[1] == pytest.approx(32_561 / 6_426_679 / space.evaluator.matches)


def test_safe_harbor_groups_ages_over_89_and_three_digits(space):
    with pytest.warns(SafeHarborWarning, match=r"2 three-digit areas .* \(426, 723\)"):
        policy = safe_harbor(space)
    ages = policy.intervals["age"]
    assert [interval.width for interval in ages] == [1] * 90 + [16]
    assert ages[-1].label == "90-105"
    zips = space.domains[3].values
    areas = [{str(z)[:3] for z in zips[i.first : i.last + 1]} for i in policy.intervals["zip"]]
    assert all(len(area) == 1 for area in areas[:-1])
    assert areas[-1] == {"426", "723"}
    assert len(policy.intervals["sex"]) == 2
    assert len(policy.intervals["race"]) == 5


@pytest.fixture(scope="module")
def kit(folder):
    source = open_source(folder / "adult.parquet")
    roles = dict.fromkeys(source.columns, "drop") | dict.fromkeys(QUASI, "quasi")
    roles |= {"education": "keep", "income": "sensitive"} if "income" in roles else {}
    # Safe Harbor keeps most ZIP3 and age: bit-strings beat it in resolution where that weighs more.
    options = FitOptions(population=(str(folder / "population.parquet"),), loss_weight=0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SafeHarborWarning)
        return fit(
            source, Roles.model_validate({"columns": roles}), options, seed=1, progress=silent
        )


def test_a_policy_that_beats_safe_harbor_is_released_and_verified(kit, folder, tmp_path):
    kit.save(tmp_path / "kit")
    kit = StoredKit.load(tmp_path / "kit")
    chosen = choose(kit, Choice(beats="safe-harbor"))
    risk, loss, *_ = TablesContent.of(kit).mark_scores["safe-harbor"]
    assert chosen.figures["relative_risk"] <= risk
    assert chosen.figures["loss"] < loss
    source = open_source(folder / "adult.parquet")
    out = tmp_path / "release.parquet"
    release = TABLES.apply(kit, chosen, source, out, ApplyOptions(), force=False, progress=silent)
    assert release.private["counts"]["released"] == 32_561
    expected = chosen.figures | release.private["chosen"]["figures"]
    for name in ("mean_risk", "k", "k_map", "sample_uniques", "expected_matches"):
        assert release.private["figures"][name] == pytest.approx(expected[name]), name
    assert expected == pytest.approx(release.private["chosen"]["figures"] | chosen.figures)
    checks = dict(verify(release))
    assert len(checks) > 4
    assert False not in checks.values()
    population = str(folder / "population.parquet")
    (alone, *_) = TABLES.attack(
        release, source, AttackOptions(population=population), seed=1, progress=silent
    )
    found = next(f for f in alone.findings if f.quantity.startswith("descriptions that fit one"))
    assert found.rate.successes == release.private["figures"]["population_uniques"]


def test_certified_uniques_equal_a_count_of_the_population_table(space, folder):
    table = pq.read_table(folder / "population.parquet").to_pandas()
    sample = pq.read_table(folder / "adult.parquet").to_pandas()
    people = table.set_index(QUASI)["people"]
    own = people.loc[list(sample[QUASI].itertuples(index=False, name=None))]
    assert (own == 1).sum() == 322
    assert (1 / own).sum() == pytest.approx(space.evaluator.matches)
