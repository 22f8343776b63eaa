"""One policy is shown as it is, and edited by hand: every figure is counted again, naively."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.tables.verbs.test_trees import applied, fitted, people

from voile import tables
from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.release.choice import Choice, Chosen
from voile.tables.module import TABLES
from voile.tables.verbs.choose import choose
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.options import ApplyOptions

QUASI = ("age", "zip", "sex")


@pytest.fixture(scope="module")
def tree_kit():
    return fitted(people())


@pytest.fixture(scope="module")
def global_kit():
    return fitted(people(), family="global", method="quick", k=3)


def last_of(kit):
    return len(kit.frontier) - 1


def released_rows(kit, table, chosen, out):
    options = ApplyOptions(keep_order=True)
    release = TABLES.apply(
        kit, chosen, open_source(table), out, options, force=True, progress=silent
    )
    return list(zip(*(release.rows().read()[name].to_pylist() for name in QUASI), strict=True))


def values_under(rows, table, place):
    """Return the source's values that rows under each label of one column have."""
    held = {}
    for row, value in zip(rows, table[QUASI[place]].to_pylist(), strict=True):
        held.setdefault(row[place], set()).add(value)
    return held


@pytest.mark.parametrize("which", ["tree_kit", "global_kit"])
def test_labels_and_group_sizes_are_those_of_the_release(which, request, tmp_path):
    kit, table = request.getfixturevalue(which), people()
    shown = tables.show(kit, number=last_of(kit))
    release = applied(kit, table, tmp_path / "out.csv", way={"policy": last_of(kit)})
    rows = list(zip(*(release.rows().read()[name].to_pylist() for name in QUASI), strict=True))
    for place, column in enumerate(shown["columns"]):
        labels = {one["label"]: one["people"] for one in column["labels"] if one["people"]}
        assert sorted(labels.values()) == sorted(
            float(sum(row[place] == label for row in rows)) for label in {r[place] for r in rows}
        )
        raw = table[column["column"]].to_pylist()
        assert column["people"] == [
            sum(str(value) == text for value in raw) for text in column["values"]
        ]
    sizes = [rows.count(row) for row in rows]
    for one in shown["groups"]:
        inside = [n for n in sizes if one["from"] <= n <= (one["to"] or np.inf)]
        assert one["people"] == len(inside)
    assert shown["feasible"]
    raw = list(zip(*(table[name].to_pylist() for name in QUASI), strict=True))
    alike = [raw.count(row) for row in raw]
    for one in shown["groups_before"]:
        assert one["people"] == sum(one["from"] <= n <= (one["to"] or np.inf) for n in alike)


@pytest.mark.parametrize("which", ["tree_kit", "global_kit"])
def test_matches_without_a_column_are_those_of_an_adversary_who_lacks_it(which, request):
    """The adversary takes everybody of the source who fits a record in the other columns."""
    kit, table = request.getfixturevalue(which), people()
    content = TablesContent.of(kit)
    policy = content.family.policy(last_of(kit))
    shown = tables.show(kit, number=last_of(kit))
    codes = np.column_stack([d.codes(table[d.column].combine_chunks()) for d in policy.domains])
    numbers = policy.numbers_of(codes)
    entries, sets = policy.list_shown(numbers)
    for place in range(3):
        expected = 0.0
        for row in range(len(codes)):
            fits = np.ones(len(codes), dtype=bool)
            for other in {0, 1, 2} - {place}:
                fits &= sets[other][entries[row, other]][codes[:, other]]
            expected += 1 / fits.sum()
        found = shown["columns"][place]["expected_matches_without_it"]
        assert found == pytest.approx(expected, abs=1e-9)


def test_a_merged_node_is_one_leaf_of_the_release_and_is_read_back(tree_kit, tmp_path):
    table, before = people(), tables.show(tree_kit, number=last_of(tree_kit))
    node = before["leaves"][0]["merges_into"]
    file = tmp_path / "policy.toml"
    edited = tables.edit(tree_kit, file, number=last_of(tree_kit), merge=[str(node)])
    after = tables.show(tree_kit, policy=file)
    assert edited["edited"]
    assert edited["policy"]["merged"] == [node]
    assert edited["number"] is None
    assert len(after["leaves"]) < len(before["leaves"])
    assert node in {leaf["node"] for leaf in after["leaves"]}
    assert sum(leaf["people"] for leaf in after["leaves"]) == table.num_rows
    assert edited["figures"] == after["figures"]
    assert edited["figures"]["loss"] >= before["figures"]["loss"]
    rows = released_rows(tree_kit, table, Chosen.read(file), tmp_path / "out.csv")
    assert len(set(rows)) == len(after["leaves"])


def test_merges_of_inner_nodes_do_not_depend_on_their_order(tree_kit, tmp_path):
    number = last_of(tree_kit)
    tree = TablesContent.of(tree_kit).family.policy(number).tree
    inner = next(
        box for box in range(1, len(tree)) if tree.part[box] >= 0 and tree.parents[box] > 0
    )
    outer = int(tree.parents[inner])
    files = [tmp_path / "one.toml", tmp_path / "other.toml"]
    for file, merge in zip(files, [[inner, outer], [outer]], strict=True):
        tables.edit(tree_kit, file, number=number, merge=[str(box) for box in merge])
    assert Chosen.read(files[0]).policy == Chosen.read(files[1]).policy


def test_a_split_undoes_a_merge(global_kit, tmp_path):
    number = last_of(global_kit)
    shown = tables.show(global_kit, number=number)
    intervals = choose(global_kit, Choice(policy=number)).policy
    place, column = next((i, c) for i, c in enumerate(QUASI) if len(intervals[c]) > 1)
    where = f"{column}={intervals[column][1][0]}"
    merged, split = tmp_path / "merged.toml", tmp_path / "split.toml"
    one = tables.edit(global_kit, merged, number=number, merge=[where])
    coarser = tables.show(global_kit, policy=merged)["columns"][place]
    assert len(coarser["labels"]) == len(intervals[column]) - 1
    assert one["number"] is None or one["number"] != number
    other = tables.edit(global_kit, split, policy=merged, split=[where])
    assert other["number"] == number
    assert other["figures"] == shown["figures"]


def test_an_edit_that_breaks_the_kits_limits_is_reported_and_not_applied(global_kit, tmp_path):
    coarse = tmp_path / "policy.toml"
    ages = tables.show(global_kit, number=0)["columns"][0]["values"]
    with pytest.warns(UserWarning, match="apply refuses it"):
        made = tables.edit(
            global_kit, coarse, number=last_of(global_kit), split=[f"age={x}" for x in ages[1:]]
        )
    assert not made["feasible"]
    with pytest.raises(RequestError, match="breaks the kit's constraints"):
        released_rows(global_kit, people(), Chosen.read(coarse), tmp_path / "out.csv")


WRONG = [
    ({"merge": ["age=17"]}, "no such value"),
    ({"merge": ["agee=45"]}, "did you mean age"),
    ({"split": ["age"]}, "COLUMN=VALUE"),
    ({}, "nothing is edited"),
    ({"merge": ["age=45"], "policy": Path("other.toml")}, "one of both"),
]


@pytest.mark.parametrize(("how", "said"), WRONG)
def test_a_wrong_place_is_refused_and_nothing_is_written(global_kit, tmp_path, how, said):
    with pytest.raises(RequestError, match=said):
        tables.edit(global_kit, tmp_path / "out.toml", number=0, **how)
    assert not (tmp_path / "out.toml").exists()


@pytest.mark.parametrize("node", ["-1", "age=45", "999999"])
def test_a_tree_merges_nodes_alone(tree_kit, tmp_path, node):
    with pytest.raises(RequestError, match="merges_into"):
        tables.edit(tree_kit, tmp_path / "out.toml", number=last_of(tree_kit), merge=[node])


@pytest.mark.parametrize("merged", [["x"], [-1], [1.5], [10**9], "1"])
def test_a_damaged_list_of_merged_nodes_is_refused(tree_kit, tmp_path, merged):
    policy = {"family": "tree", "tree": 0, "pruned": 0, "merged": merged}
    with pytest.raises(RequestError):
        TablesContent.of(tree_kit).family.read_policy(policy)
