"""Trees become orders that keep every level contiguous; what is no tree is refused."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.errors import RequestError, SourceError
from voile.tables.hierarchy import hierarchy_domain, read_hierarchy

TREE = [
    ("Tennessee", "South", "USA", "*"),
    ("Maine", "North", "USA", "*"),
    ("Texas", "South", "USA", "*"),
    ("Ontario", "Canada", "Canada", "*"),
    ("Vermont", "North", "USA", "*"),
]


def test_groups_stand_side_by_side_in_the_order_of_the_file():
    domain = hierarchy_domain("state", TREE)
    assert domain.values == ("Tennessee", "Texas", "Maine", "Vermont", "Ontario")
    assert domain.levels == (
        (True, True, True, True),
        (False, True, False, True),
        (False, False, False, True),
        (False, False, False, False),
    )


def test_null_is_a_group_of_its_own_below_the_coarsest_level():
    domain = hierarchy_domain("state", TREE, nullable=True)
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
    domain = hierarchy_domain("x", rows)
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
        hierarchy_domain("d", rows)
    with pytest.raises(RequestError, match="stands twice"):
        hierarchy_domain("d", [("a", "*"), ("a", "*")])
    with pytest.raises(RequestError, match="at least two values"):
        hierarchy_domain("d", [("a", "*")])


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
