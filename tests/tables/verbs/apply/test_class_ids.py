"""Ids of equivalence classes: random, and the same for rows that share their intervals."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

import voile.tables as vt
from voile.core.errors import RequestError

PEOPLE = pa.table(
    {
        "age": [20 + i % 50 for i in range(600)],
        "town": [("Ash", "Birch", "Cedar")[i % 3] for i in range(600)],
        "ill": [("flu", "gout")[i % 2] for i in range(600)],
    }
)
ROLES = {"age": "quasi", "town": "quasi", "ill": "sensitive"}


@pytest.fixture(scope="module", params=["tree", "global"])
def kit(request):
    how = {"method": "steepest", "suppress": 0.05} if request.param == "global" else {}
    return vt.fit(PEOPLE, ROLES, family=request.param, k=11, seed=1, **how)


def released(kit, **options):
    return kit.apply(kit.choose(least_loss=True), PEOPLE, class_id=True, **options)


def labels_by_id(release, columns):
    found = {}
    for row in release.frame.to_pylist():
        found.setdefault(row["class"], set()).add(tuple(row[name] for name in columns))
    return found


@pytest.mark.parametrize("bounds", [False, True])
def test_rows_have_one_id_where_they_have_one_label(kit, bounds):
    release = released(kit, bounds=bounds)
    columns = [c["column"] for c in release.public["columns"] if c["role"] == "quasi"]
    found = labels_by_id(release, columns)
    assert len(found) > 1
    assert all(len(labels) == 1 for labels in found.values())
    assert len(set.union(*found.values())) == len(found)
    assert all(re.fullmatch("c[0-9a-f]{15}", name) for name in found)


def test_two_releases_share_no_id(kit):
    first, second = (set(released(kit).frame["class"].to_pylist()) for _ in range(2))
    assert len(first) == len(second)
    assert not first & second


def test_a_release_with_ids_is_as_certified_as_one_without(kit):
    release = released(kit)
    plain = kit.apply(kit.choose(least_loss=True), PEOPLE)
    assert release.private["figures"] == plain.private["figures"]
    assert all(check.holds is not False for check in release.verify())
    evidence = release.attack(PEOPLE, seed=1)
    assert "random, one for each equivalence class" in release.report(evidence).html
    assert "class" in release.expand("age").column_names


def test_no_adversary_can_know_an_id_beforehand(kit):
    with pytest.raises(RequestError, match="the adversary cannot know class"):
        released(kit).attack(PEOPLE, knows="class", seed=1)


def test_a_source_with_a_column_of_that_name_is_refused():
    table = PEOPLE.append_column("class", PEOPLE["ill"])
    kit = vt.fit(table, {**ROLES, "class": "drop"}, family="tree", k=11, seed=1)
    with pytest.raises(RequestError, match="has a column class, as class_id would add; rename"):
        kit.apply(kit.choose(least_loss=True), table, class_id=True)


def test_a_column_of_that_name_is_released_as_any_other_where_no_ids_are_asked_for():
    table = PEOPLE.append_column("class", PEOPLE["ill"])
    kit = vt.fit(table, {**ROLES, "class": "keep"}, family="tree", k=11, seed=1)
    release = kit.apply(kit.choose(least_loss=True), table)
    assert set(release.frame["class"].to_pylist()) == {"flu", "gout"}
    (described,) = (one for one in release.public["columns"] if one["column"] == "class")
    assert (described["role"], described["what"]) == ("keep", "as in the source")
