"""Trees become orders that keep every level contiguous; what is not a tree is refused."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError, SourceError
from voile.tables.domains.hierarchy import (
    build_tree_domain,
    level_cuts,
    read_hierarchy,
    read_parents,
)
from voile.tables.fitting.search import search
from voile.tables.fitting.space import PolicySpace
from voile.tables.people.counts import Constraints

TREE = [
    ("Tennessee", "South", "USA", "*"),
    ("Maine", "North", "USA", "*"),
    ("Texas", "South", "USA", "*"),
    ("Ontario", "Canada", "Canada", "*"),
    ("Vermont", "North", "USA", "*"),
]


def test_groups_stand_side_by_side_in_the_order_of_the_file():
    domain = build_tree_domain("state", TREE)
    assert domain.values == ("Tennessee", "Texas", "Maine", "Vermont", "Ontario")
    assert domain.levels == (
        (True, True, True, True),
        (False, True, False, True),
        (False, False, False, True),
        (False, False, False, False),
    )


def test_null_is_a_group_of_its_own_below_the_coarsest_level():
    domain = build_tree_domain("state", TREE, nullable=True)
    assert domain.values[-1] is None
    assert [level[-1] for level in domain.levels] == [True, True, True, False]


@st.composite
def trees(draw):
    """Paths from leaf to root: each level's groups are merged at random into the next's."""
    leaves = draw(st.lists(st.text(max_size=4), unique=True, min_size=2, max_size=20))
    levels, groups = [leaves], list(range(len(leaves)))
    for depth in range(draw(st.integers(0, 3))):
        parent = {g: draw(st.integers(0, 4)) for g in sorted(set(groups))}
        groups = [parent[g] for g in groups]
        levels.append([f"{depth}/{g}" for g in groups])
    return draw(st.permutations(list(zip(*levels, ["*"] * len(leaves), strict=True))))


@given(trees())
def test_every_level_is_contiguous_and_its_cuts_are_the_levels_groups(rows):
    domain = build_tree_domain("x", rows)
    by_leaf = {row[0]: row for row in rows}
    assert sorted(domain.values) == sorted(by_leaf)
    for level, cuts in enumerate(domain.levels):
        names = [by_leaf[value][level] for value in domain.values]
        assert [a != b for a, b in pairwise(names)] == list(cuts)
        assert sum(cuts) + 1 == len(set(names))
    for finer, coarser in pairwise(domain.levels):
        assert all(a or not b for a, b in zip(finer, coarser, strict=True))


def test_levels_that_are_not_nested_are_refused_by_row():
    rows = [("a", "x", "1"), ("b", "x", "2"), ("c", "y", "2")]
    with pytest.raises(RequestError, match=r"level 2 .* not nested in level 3: row 2 .*"):
        build_tree_domain("d", rows)
    with pytest.raises(
        RequestError, match="row 2 of the hierarchy places a value again, and in a tree"
    ):
        build_tree_domain("d", [("a", "*"), ("a", "*")])
    with pytest.raises(RequestError, match="at least two values"):
        build_tree_domain("d", [("a", "*")])


@pytest.mark.parametrize(
    "text",
    [
        "a;[0, 5[;*\nb;[5, 9[;*\n",
        "a,x,*\nb,x,*",
        "a\tx\t*\r\nb\tx\t*\r\n",
        '\ufeffa;"x;y";*\n\nb;"x;y";*\n',
        '"a\n1";x;*\nb;x;*\n',
    ],
)
def test_files_are_read_with_their_own_separator(tmp_path, text):
    path = tmp_path / "tree.csv"
    path.write_text(text, encoding="utf-8", newline="")
    rows = read_hierarchy(path)
    assert [len(row) for row in rows] == [3, 3]
    assert rows[0][0] in ("a", "a\n1")


def test_a_file_that_is_none_is_refused(tmp_path):
    path = tmp_path / "tree.csv"
    with pytest.raises(SourceError, match="no such hierarchy file"):
        read_hierarchy(path)
    with pytest.raises(SourceError, match="cannot be read"):
        read_hierarchy(tmp_path)
    for text, said in (("", "empty"), ("a;b;*\nb;*\n", "row 2 has 2 levels, row 1 has 3")):
        path.write_text(text)
        with pytest.raises(SourceError, match=said):
            read_hierarchy(path)
    path.write_bytes("é;*\n".encode("latin-1"))
    with pytest.raises(SourceError, match="byte 0 is not UTF-8"):
        read_hierarchy(path)


BRANCHES = "Tennessee;South\nMaine;North\nSouth;USA\nTexas;South\nOntario;Canada\nNorth;USA\n"


def parents(folder, text):
    path = folder / "parents.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_tree_may_be_given_by_its_branches(tmp_path):
    assert read_parents(parents(tmp_path, BRANCHES)) == [
        ("Tennessee", "South", "USA", "*"),
        ("Maine", "North", "USA", "*"),
        ("Texas", "South", "USA", "*"),
        ("Ontario", "Ontario", "Canada", "*"),
    ]
    one_root = parents(tmp_path, "a;x\nb;x\nx;*\nc;*\n")
    assert read_parents(one_root) == [("a", "x", "*"), ("b", "x", "*"), ("c", "c", "*")]


@st.composite
def branches(draw):
    """Parents of nodes 1, 2, ...: each has an earlier node, so it is a tree with root 0."""
    n = draw(st.integers(2, 15))
    parent = {i: draw(st.integers(0, i - 1)) for i in range(1, n)}
    return {i: parent[i] for i in draw(st.permutations(sorted(parent)))}


@given(branches())
def test_every_group_of_a_tree_is_a_run_of_its_leaves(tmp_path_factory, parent):
    folder = tmp_path_factory.getbasetemp()
    rows = read_parents(parents(folder, "".join(f"{c};{p}\n" for c, p in parent.items())))
    leaves = {str(c) for c in parent if c not in parent.values()}
    assert {row[0] for row in rows} == leaves
    if len(leaves) == 1:
        return
    domain = build_tree_domain("x", rows)
    for group in set(parent.values()):
        below = []
        for i, value in enumerate(domain.values):
            node = int(value)
            while node and node != group:
                node = parent[node]
            below += [i] * (node == group)
        assert below[-1] - below[0] + 1 == len(below)
        cuts = [{i for i, cut in enumerate(level) if cut} for level in domain.levels]
        around = {below[0] - 1, below[-1]} & set(range(len(domain) - 1))
        inside = set(range(below[0], below[-1]))
        assert any(around <= level and not inside & level for level in cuts)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a;x\nb;x\na;y\n", "row 3 gives a value a second parent, and in a tree each has one"),
        ("a;x\nx;y\ny;x\n", "the parents above row 1 lead round in a circle"),
        ("a;a\nb;c\n", "the parents above row 1 lead round in a circle"),
        ("a;x;y\n", "row 1 has 3 cells, not two"),
        ("", "the parents file is empty"),
    ],
)
def test_branches_that_make_no_tree_are_refused(tmp_path, text, said):
    with pytest.raises(RequestError, match=f"parents.csv: {said}"):
        read_parents(parents(tmp_path, text))


def test_branches_order_a_domain_from_the_roles_file(tmp_path):
    sample = pa.table({"state": ["Texas", "Maine", "Tennessee", "Ontario", None]})
    settings = {"state": {"parents": str(parents(tmp_path, BRANCHES))}}
    (domain,) = PolicySpace.of(sample, quasi=["state"], settings=settings).domains
    assert domain.values == ("Tennessee", "Texas", "Maine", "Ontario", None)
    assert domain.levels[1] == (False, True, True, True)
    with pytest.raises(RequestError, match="1 values of the data are not in the order or hier"):
        PolicySpace.of(pa.table({"state": ["Texas", "USA"]}), quasi=["state"], settings=settings)


@given(trees(), st.data())
def test_cuts_between_two_levels_allow_just_what_lies_between(rows, data):
    domain = build_tree_domain("x", rows)
    last = len(domain.levels) - 1
    finest = data.draw(st.integers(0, last))
    coarsest = data.draw(st.integers(finest, last))
    required, forbidden = level_cuts(domain, finest=finest, coarsest=coarsest)
    for number, level in enumerate(np.array(domain.levels)):
        allowed = not np.any(required & ~level) and not np.any(forbidden & level)
        equal = any((level == domain.levels[i]).all() for i in (finest, coarsest))
        assert allowed == (finest <= number <= coarsest or equal)
    Constraints(required=required, forbidden=forbidden)
    assert not level_cuts(domain)[0].any()
    assert not level_cuts(domain)[1].any()


def test_levels_that_are_not_there_are_refused():
    domain = build_tree_domain("state", TREE)
    for wrong in ({"finest": 4}, {"finest": -1}, {"finest": 3, "coarsest": 1}):
        with pytest.raises(RequestError, match=r"no levels from .*; levels are 0 .* to 3"):
            level_cuts(domain, **wrong)
    flat = PolicySpace.of(pa.table({"x": ["a", "b"]}), quasi=["x"]).domains[0]
    with pytest.raises(RequestError, match="column x: levels are asked for, and no hierarchy"):
        level_cuts(flat, finest=0)


def test_a_columns_settings_keep_policies_between_two_levels(tmp_path):
    tree = tmp_path / "states.csv"
    tree.write_text("".join(";".join(row) + "\n" for row in TREE))
    sample = pa.table({"state": [row[0] for row in TREE], "sex": ["f", "m", "f", "m", "f"]})

    def space(**settings):
        return PolicySpace.of(
            sample,
            quasi=["sex", "state"],
            settings={"state": {"hierarchy": str(tree), **settings}},
            constraints=Constraints(required=np.array([True, False, False, False, False])),
        )

    limits = space(finest=1, coarsest=2).constraints
    assert limits.required.tolist() == [True, False, False, False, True]
    assert limits.forbidden.tolist() == [False, True, False, True, False]
    found = search(space(finest=1, coarsest=2), method="exhaustive").frontier.policies
    assert found[:, [0, 4]].all()
    assert not found[:, [1, 3]].any()
    assert space(coarsest=3).constraints.forbidden is None
    with pytest.raises(RequestError, match="column state: there are no levels from 0 to 9"):
        space(coarsest=9)
    with pytest.raises(RequestError, match="both to keep and to drop"):
        space(finest=1, keep_cuts=["Tennessee"])
    with pytest.raises(RequestError, match="column sex: levels are asked for, and no hierarchy"):
        PolicySpace.of(sample, quasi=["sex"], settings={"sex": {"finest": 1}})
