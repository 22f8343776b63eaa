"""Known columns in attacks, and in what the report says of them."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest
from pyarrow.csv import write_csv
from tests.signals.children import children, kit_of, said
from tests.signals.clinic import applied

from voile.core.progress import silent
from voile.data import open_source
from voile.report.wording import share
from voile.signals.attack.known_columns import known_columns
from voile.signals.options import AttackOptions
from voile.signals.verbs.attack import attack
from voile.signals.verbs.report import sections


@pytest.fixture(scope="module")
def kit():
    return kit_of()


@pytest.mark.parametrize("kept", [True, False])
def test_without_known_columns_the_first_screen_gives_the_leakage_with_the_kept(kept, tmp_path):
    """A weight that reveals nothing by itself does at an age, which the release keeps."""
    rng = np.random.default_rng(4)
    ill, age = np.arange(600) % 3 == 0, rng.integers(2, 18, 600)
    weight = np.round(60 + 8 * ((age >= 10) ^ ill) - 3 * ill + rng.normal(size=600), 1)
    table = children(600, ill=np.where(ill, "yes", "no"), age=age, weight=weight)
    kit = kit_of(table, said(age="keep" if kept else "drop", sex="drop"))
    release = applied(kit, tmp_path / "sent.csv", table)
    found = attack(
        release, open_source(table), AttackOptions(permutations=5), seed=1, progress=silent
    )
    first = sections(release, found, audience="internal")[0].blocks[1].figures[:2]
    assert first[0].label == "Information leakage"
    assert (first[1].label == "Leakage, columns known") == kept
    if kept:
        assert "knows age" in first[1].meaning
        assert float(first[1].value.split()[0]) > 0.3 > 2 * float(first[0].value.split()[0])


def test_which_known_cells_are_missing_is_known_to_the_attack():
    ages = pa.array([1, None, 3, None, 2])
    table = open_source(pa.table({"age": ages, "sex": ["f", "m", None, "f", "f"]}))
    (K,) = known_columns(["age"], (table, np.arange(5)))
    assert K.tolist() == [[1, 0], [2, 1], [3, 0], [2, 1], [2, 0]]
    (K,) = known_columns(["sex"], (table, np.arange(5)))
    assert K.sum(axis=1).tolist() == [1] * 5


def test_columns_of_two_sources_are_read_as_one():
    """The control may be another file, with other names in it, in another order or type."""
    table = open_source(pa.table({"age": [1, 2, 30], "sex": ["f", "m", "f"]}))
    control = open_source(pa.table({"age": ["3", None], "sex": ["x", "m"]}))
    K, other = known_columns(["age", "sex"], (table, np.arange(3)), (control, np.array([1, 0])))
    assert K[:, 2:].tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert other[:, 1:].tolist() == [[1, 0, 1, 0], [0, 0, 0, 1]]
    assert (K[:, 0].tolist(), other[1, 0]) == ([1, 2, 30], 3)


def test_the_attack_knows_them_and_the_first_screen_says_what_is_left(kit, tmp_path):
    release = applied(kit, tmp_path / "sent.csv", children())
    options = AttackOptions(permutations=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = attack(release, open_source(children()), options, seed=1, progress=silent)
    (known,) = (one for one in found if one.attack == "single messages, columns known")
    assert known.knows == ("age", "sex", "weight")
    shown = sections(release, found, audience="internal")[0]
    labels = [figure.label for figure in shown.blocks[1].figures]
    assert labels[:3] == [
        "Class inferred by consistency",
        "Information leakage",
        "Leakage, columns known",
    ]
    consistent, alone, beside, relative = shown.blocks[1].figures[:4]
    assert consistent.value.startswith("at least ")
    assert "on held-out people of the fit" in consistent.meaning
    assert "knows age and sex" in beside.meaning
    # what the fit expects, and the share of it, are of this adversary: bits within age and sex
    assert ("the fit predicted" in alone.meaning, "the fit predicted" in beside.meaning) == (0, 1)
    (note,) = (note.values for note in known.notes if "high" in note.values and not note.by)
    whole = kit.facts["before"]["bits"]
    assert relative.interval == f"at most {share(note['high'] / whole)}"


def test_of_columns_that_the_fit_does_not_know_it_expects_nothing(kit, tmp_path):
    """The adversary knows less, or more: what the fit expects stands by itself."""
    release = applied(kit, tmp_path / "sent.csv", children())
    options = AttackOptions(permutations=5, knows=("age",))
    found = attack(release, open_source(children()), options, seed=1, progress=silent)
    figures = sections(release, found, audience="internal")[0].blocks[1].figures
    known = [one.meaning for one in figures if one.label == "Leakage, columns known"]
    assert known[0] == "per message, to an adversary who knows age; measured"
    assert known[1].startswith("per message to an adversary who knows age and sex, predicted")
    assert not any("the fit predicted" in one.meaning for one in figures)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_people_held_out_are_a_control_of_the_attack_that_knows_them(elsewhere, tmp_path):
    """Those whom a map was fitted to it hides better; the model's densities are of both."""
    kit = kit_of(hold_out=0 if elsewhere else 0.4)
    kit.save(tmp_path / "kit")
    release = applied(kit, tmp_path / "sent.csv", children())
    control = {}
    if elsewhere:
        write_csv(children(seed=8), tmp_path / "others.csv")
        control = {"control": tmp_path / "others.csv"}
    options = AttackOptions(permutations=5, public_map=tmp_path / "kit", **control)
    found = attack(release, open_source(children()), options, seed=1, progress=silent)
    known = {one.by: one for one in found[2].findings if not one.of}
    assert found[2].attack == "single messages, columns known"
    assert {by: one.control.trials > 100 for by, one in known.items()} == dict.fromkeys(known, True)
    assert all(one.baseline is not None for one in known.values())
    bayes = "Bayes' rule with the map's model"
    assert bayes in known
    assert bayes not in {one.by for one in found[0].findings}
