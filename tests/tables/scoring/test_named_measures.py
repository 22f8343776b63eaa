"""Measures are found by name, in the working directory too; what is not a measure is refused."""

from __future__ import annotations

import sys

import pytest

from voile.core.errors import RequestError
from voile.tables.scoring.group_measures import (
    RecordGroups,
    compute_values,
    information,
    matches,
    small_groups,
)
from voile.tables.scoring.named_measures import NAMES, LossWeights, measure_named

MODULE = """
from voile.tables.scoring.group_measures import GroupMeasure

rare = GroupMeasure("rare", "Rare", "subjects", "n, g < 5", generalising="falls",
                    each=lambda groups: groups.subjects * (groups.group < 5))
print("loaded")


def said(groups):
    print("asked")
    return groups.subjects * 1.0


talking = GroupMeasure("talking", "", "", "", generalising="falls", each=said)
untold = GroupMeasure("untold", None, "", "", generalising="falls", each=rare.each)
number = 5
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working directory with modules, of which nothing stays imported."""
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    (tmp_path / "my_measures.py").write_text(MODULE)
    (tmp_path / "broken_measures.py").write_text("1 +")
    (tmp_path / "needy_measures.py").write_text("import not_there_at_all")
    (tmp_path / "failing_measures.py").write_text("1 / 0")
    (tmp_path / "ending_measures.py").write_text("import sys; sys.exit(0)")
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_ours_by_name(own):
    counts = own.counts(0)
    assert measure_named("risk", None)(counts) == matches()
    assert measure_named("loss", None)(counts) == information()
    assert measure_named("risk", "small-groups")(counts) == small_groups()
    for kind, names in NAMES.items():
        for name in names:
            declared = measure_named(kind, name)(counts, LossWeights()).generalising
            assert declared == ("falls" if kind == "risk" else "rises")


def test_a_measure_stands_for_itself(own):
    mine = own.risk(lambda groups: groups.subjects)
    assert measure_named("risk", mine)(own.counts(0)) is mine


def test_a_module_in_the_working_directory(own, here):
    path = list(sys.path)
    assert measure_named("risk", "my_measures:rare")(own.counts(0)).name == "rare"
    assert sys.path == path


def test_what_a_measure_prints_is_no_part_of_a_result(own, here, capsys):
    measure = measure_named("risk", "my_measures:talking")(own.counts(0))
    compute_values(measure, RecordGroups.of(own.counts(0)))
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "loaded\nasked\n"


@pytest.mark.parametrize(
    ("kind", "name", "says"),
    [
        ("risk", "small-group", "no risk is called small-group, .* did you mean small-groups"),
        ("loss", "matches", "no loss is called matches, .* module:object; there is"),
        ("risk", "nowhere_to_be:found", "no module nowhere_to_be in the working directory"),
        ("risk", "my_measures:rar", "module my_measures has no rar; did you mean rare"),
        ("risk", "my_measures:number", "the risk my_measures:number is not a GroupMeasure"),
        ("risk", "my_measures:untold", "title and formula of the risk untold must be text"),
        ("loss", "my_measures:rare", "rare does not declare that it rises"),
        ("risk", "broken_measures:rare", r"broken_measures cannot be imported \(SyntaxError\)"),
        ("risk", "needy_measures:rare", "needy_measures needs not_there_at_all"),
        ("risk", ":rare", ":rare names no measure; write module:object"),
        ("risk", "my_measures:", "my_measures: names no measure"),
        ("risk", "my_measures.py:rare", "no module my_measures.py .*; leave .py out"),
        ("risk", "os:rare", "module os has no rare; make a GroupMeasure"),
        ("risk", "failing_measures:rare", r"cannot be imported \(ZeroDivisionError\)"),
        ("risk", "ending_measures:rare", r"cannot be imported \(SystemExit\)"),
        ("risk", 5, "the risk int is not a GroupMeasure"),
    ],
)
def test_refuses(here, kind, name, says):
    with pytest.raises(RequestError, match=says):
        measure_named(kind, name)
