"""A kit's policies are applied as chosen or as edited, and none of another kit's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.tables.verbs.apply.visits import fitted, middle, roles, run

from voile.core.errors import InfeasibleError, RequestError
from voile.release.choice import Choice
from voile.release.kit import StoredKit
from voile.tables.verbs.choose import choose
from voile.tables.verbs.content import TablesContent

pytestmark = pytest.mark.filterwarnings(
    "ignore::voile.tables.policies.safe_harbor.SafeHarborWarning"
)


def test_a_policy_of_another_kit_is_refused(kit, patients, key_file, tmp_path):
    other = fitted(patients, seed=4, hold_out=0.2)
    with pytest.raises(RequestError, match="choose a policy from this kit"):
        run(kit, patients, tmp_path / "out.csv", chosen=middle(other), key_file=key_file)
    assert not list(tmp_path.iterdir())


def test_the_kit_that_was_saved_is_the_same_kit(kit, patients, key_file, tmp_path):
    chosen = middle(kit)
    kit.save(tmp_path / "kit")
    loaded = StoredKit.load(tmp_path / "kit")
    assert middle(loaded) == chosen
    run(loaded, patients, tmp_path / "out.csv", chosen=chosen, key_file=key_file)


def test_a_policy_edited_by_hand_is_scored_again(kit, patients, key_file, tmp_path):
    chosen, top = middle(kit), choose(kit, Choice(policy=0))
    edited = replace(chosen, policy=top.policy)
    release = run(kit, patients, tmp_path / "out.csv", chosen=edited, key_file=key_file)
    for name in ("relative_risk", "loss"):
        assert release.private["chosen"]["figures"][name] == pytest.approx(top.figures[name])
    assert release.private["chosen"]["number"] == top.number
    assert release.private["chosen"]["edited"]
    figures = release.private["chosen"]["figures"]
    assert {name: figures[name] for name in top.figures} == pytest.approx(dict(top.figures))


def test_a_policy_that_nobody_edited_is_not_said_to_be(kit, patients, key_file, tmp_path, release):
    """Nor is one whose file has lost its number."""
    chosen = replace(middle(kit), number=None)
    unnumbered = run(kit, patients, tmp_path / "out.csv", chosen=chosen, key_file=key_file)
    for one in (release, unnumbered):
        assert one.private["chosen"]["edited"] is False
        assert one.private["chosen"]["number"] == middle(kit).number


def test_nothing_is_said_of_marginals_where_a_policy_has_none(release):
    assert "marginals" not in release.public
    assert "marginals" not in release.private


def test_a_policy_edited_into_none_of_the_kit_has_no_number(kit, patients, key_file, tmp_path):
    chosen, every = middle(kit), range(kit.facts["policies"])
    of_the_kit = [choose(kit, Choice(policy=number)).policy for number in every]
    mixed = ({**one, "age": other["age"]} for one in of_the_kit for other in of_the_kit)
    new = next(one for one in mixed if one not in of_the_kit)
    edited = replace(chosen, policy=new)
    for name, one in (("a", edited), ("b", replace(edited, number=None, edited=True))):
        release = run(kit, patients, tmp_path / f"{name}.csv", chosen=one, key_file=key_file)
        assert release.private["chosen"]["number"] is None
        assert release.private["chosen"]["edited"]


def test_a_policy_edited_below_k_is_refused(patients, tmp_path):
    kit = fitted(patients, roles(seen="drop"), k=5)
    chosen = middle(kit)
    ages = [[str(age), str(age)] for age in range(20, 40)]
    zips = [[code, code] for code in ("00501", "00544", "37010", "37201")]
    edited = replace(chosen, policy={"age": ages, "zip": zips})
    with pytest.raises(InfeasibleError, match="breaks the kit's constraints"):
        run(kit, patients, tmp_path / "out.csv", chosen=edited)


def test_the_same_seed_gives_the_same_kit(patients, tmp_path):
    for name in ("a", "b"):
        fitted(patients, hold_out=0.1, seed=9).save(tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    assert fitted(patients, hold_out=0.1, seed=10).id != StoredKit.load(tmp_path / "a").id


def test_a_fitted_kit_comes_back_whole(kit, tmp_path):
    kit.save(tmp_path / "kit")
    one, two = TablesContent.of(kit), TablesContent.of(StoredKit.load(tmp_path / "kit"))
    assert one.space.domains == two.space.domains
    assert one.roles == two.roles
    assert one.hold_out == two.hold_out
    assert one.marks == two.marks
    assert one.found == two.found
    assert np.array_equal(one.frontier.policies, two.frontier.policies)
    assert np.array_equal(one.space.counts.sample, two.space.counts.sample)
    assert two.to_kit().id == kit.id
