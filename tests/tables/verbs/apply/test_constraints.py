"""What a kit promises of k, l and suppression holds in the release, or there is none."""

from __future__ import annotations

import math
from contextlib import nullcontext

import pyarrow as pa
import pytest
from tests.tables.verbs.apply.visits import finest, fitted, read, roles, run

from voile.core.errors import InfeasibleError
from voile.data.roles import Roles
from voile.gate.promises import TableLimits
from voile.gate.safe_harbor import SAFE_HARBOR_FOUND
from voile.release.choice import Choice
from voile.tables.policies.policy import Policy
from voile.tables.verbs.apply import _check_implied
from voile.tables.verbs.choose import choose
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.verify import verify

pytestmark = pytest.mark.filterwarnings(
    "ignore::voile.tables.policies.safe_harbor.SafeHarborWarning"
)


K_RULES = {"k": 5, "suppress": 0.2}


def test_groups_under_k_are_suppressed_up_to_the_share(patients, tmp_path):
    kit = fitted(patients, roles(seen="drop"), **K_RULES)
    last = finest(kit)
    release = run(kit, patients, tmp_path / "out.csv", chosen=last)
    counts = release.private["counts"]
    assert counts["suppressed"] > 0
    assert 0 < last.figures["suppressed"] <= 0.2
    assert 5 <= release.private["figures"]["k"] < 11
    assert "k" not in release.public["figures"]
    assert all(holds is not False for _, holds in verify(release))
    released = read(release.path)
    groups = released.group_by(["age", "zip"]).aggregate([([], "count_all")])
    assert min(groups["count_all"].to_pylist()) >= 5
    space = TablesContent.of(kit).space
    again = Policy.from_data(space.domains, choose(kit, Choice(policy=0)).policy)
    assert space.disclosure(again)["k"] >= 5


def test_discernibility_counts_suppressed_people_not_rows(patients, tmp_path):
    """With every row written twice no figure changes but counts of cells."""
    found = []
    for name, table in (("once", patients), ("twice", pa.concat_tables([patients, patients]))):
        kit = fitted(table, roles(seen="drop"), **K_RULES)
        last = finest(kit)
        release = run(kit, table, tmp_path / f"{name}.csv", chosen=last)
        assert release.private["counts"]["suppressed"] > 0
        both = release.public["figures"], release.private["figures"]
        found.append([without_cells(figures) for figures in both])
    assert found[0][0] == pytest.approx(found[1][0])
    assert found[0][1] == pytest.approx(found[1][1])


def without_cells(figures):
    return {name: x for name, x in figures.items() if not name.startswith(SAFE_HARBOR_FOUND)}


def test_l_diversity_holds_in_the_release(patients, tmp_path):
    kit = fitted(patients, roles(seen="drop"), l_diversity=2, suppress=0.2)
    last = finest(kit)
    release = run(kit, patients, tmp_path / "out.csv", chosen=last)
    table = read(release.path).group_by(["age", "zip"]).aggregate([("ill", "count_distinct")])
    assert min(table["ill_count_distinct"].to_pylist()) >= 2
    assert release.private["figures"]["distinct_l(ill)"] >= 2


def test_other_data_that_would_break_the_promise_is_refused(patients, tmp_path):
    kit = fitted(patients, roles(seen="drop"), **K_RULES)
    last = finest(kit)
    with pytest.raises(InfeasibleError, match=r"has fewer people than the 5 .*: \d;"):
        run(kit, patients.slice(0, 40), tmp_path / "out.csv", chosen=last)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("figures", "said"),
    [
        ({}, None),
        ({"max_risk": 0.25 + 1e-8}, "a record of the release has a risk of 0.25, .* 0.25 at most"),
        ({"k": 4}, "has fewer people than the 5 that the kit requires: 4"),
        ({"distinct_l(ill)": 1}, "has fewer values of ill than the 2 .*: 1"),
    ],
)
def test_a_release_is_held_to_each_promise_of_its_kit(strict, figures, said):
    kept = {"max_risk": 0.25, "k": 5, "distinct_l(ill)": 2}
    with pytest.raises(InfeasibleError, match=said) if said else nullcontext():
        strict.check({**kept, **figures}, instead="fit on this source")


def test_a_release_of_nothing_keeps_every_promise(strict):
    strict.check({"max_risk": 0.0, "k": math.inf}, instead="fit on this source")


def test_a_sensitive_column_that_cannot_be_counted_any_more_is_refused(patients, tmp_path):
    kit = fitted(patients, roles(seen="drop"), l_diversity=2, suppress=0.2)
    measured = pa.array([number / 7 for number in range(len(patients))])
    other = patients.set_column(patients.column_names.index("ill"), "ill", measured)
    with pytest.raises(InfeasibleError, match="cannot measure ill of this source as the kit"):
        run(kit, other, tmp_path / "out.parquet", chosen=finest(kit))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("least", "k", "holds"),
    [(11, 1, True), (10, 1, False), (20, 20, True), (19, 20, False), (0, 1, False)],
)
def test_marginals_may_imply_no_count_of_few_people_nor_of_fewer_than_k(least, k, holds):
    said = f"imply a count of fewer than {max(k, 11)} people; leave --marginals out"
    with nullcontext() if holds else pytest.raises(InfeasibleError, match=said):
        _check_implied(least, k)


@pytest.mark.parametrize("asked", [{}, {"k": 2}, {"max_risk": 0.5}, {"l_diversity": 2}])
def test_a_group_that_the_fit_did_not_see_is_released_only_where_nothing_is_promised(
    patients, tmp_path, asked
):
    more = {"suppress": 0.9} if asked else {}
    kit = fitted(patients.slice(0, 60), roles(seen="drop"), **asked, **more)
    release = run(kit, patients, tmp_path / "out.csv", chosen=finest(kit))
    assert (release.private["counts"]["suppressed"] > 0) is bool(asked)


@pytest.mark.parametrize(("people", "told"), [(10, None), (11, 11)])
def test_the_least_group_is_public_where_it_is_of_no_few(patients, tmp_path, people, told):
    kit = fitted(patients, roles(seen="drop"))
    coarsest = choose(kit, Choice(policy=0))
    release = run(kit, patients.slice(0, people), tmp_path / "out.csv", chosen=coarsest)
    assert release.private["figures"]["k"] == people
    assert release.public["figures"].get("k") == told


@pytest.fixture(scope="module")
def strict(patients):
    asked = {"k": 5, "max_risk": 0.25, "l_diversity": 2, "suppress": 0.3}
    content = TablesContent.of(fitted(patients, roles(seen="drop"), **asked))
    rules = content.space.constraints
    return TableLimits(rules.k, rules.max_risk, vars(rules), content.sensitive)


def test_a_person_whose_rows_fall_into_many_groups_keeps_k(tmp_path):
    """k counts the people of a group; spreading a person over groups must not lower it."""
    who = [i for i in range(12) for _ in range(3)]
    age = [a for i in range(12) for a in (20, 21, 40 if i % 2 else 22)]
    table = pa.table({"who": who, "age": age})
    held_to = Roles.model_validate(
        {"subject": "who", "columns": {"who": "identifier", "age": "quasi"}}
    )
    kit = fitted(table, held_to, k=4)
    for number in range(kit.facts["policies"]):
        release = run(
            kit, table, tmp_path / f"{number}.csv", chosen=choose(kit, Choice(policy=number))
        )
        assert all(holds is not False for _, holds in verify(release)), number
