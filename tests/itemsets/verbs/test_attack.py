"""The attack knows whom it looks for, and its control are people who are not in the release."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.itemsets.module import ITEMSETS
from voile.itemsets.verbs.attack import attack
from voile.itemsets.verbs.choose import choose
from voile.itemsets.verbs.fit import fit
from voile.itemsets.verbs.options import ApplyOptions, AttackOptions, FitOptions
from voile.release.choice import Choice
from voile.report.wording import name_of

PEOPLE = 40
ROLES = Roles.model_validate(
    {"columns": {"basket": {"role": "items", "as": "words"}, "ill": "label"}}
)


def source(people=range(PEOPLE)):
    """Give each person two items that nobody else has together, and a label."""
    pairs = [f"a{n % 7} b{n // 7}" for n in people]
    return open_source(pa.table({"basket": pairs, "ill": ["yn"[n % 2] for n in people]}))


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """Publish every item of those who are not held out."""
    options = FitOptions(k=(1,), hold_out=0.3, auc="never")
    kit = fit(source(), ROLES, options, seed=1, progress=silent)
    chosen = choose(kit, Choice(max_loss=0.0))
    out = tmp_path_factory.mktemp("release") / "r.csv"
    return ITEMSETS.apply(kit, chosen, source(), out, ApplyOptions(), force=False, progress=silent)


def rates(release, **options):
    asked = AttackOptions(items=(2,), **options)
    found = attack(release, source(), asked, seed=1, progress=silent)
    return {name_of(finding, "internal"): finding for one in found for finding in one.findings}


def test_who_knows_all_finds_everybody_and_nobody_who_was_held_out(untouched):
    counts = untouched.private["counts"]
    assert 0 < counts["held_out"] < PEOPLE
    found = rates(untouched)
    for known in ("2 random items", "2 most identifying items"):
        right = found[f"right person, {known}"]
        assert right.rate.successes == right.rate.trials == counts["released"]
    alone = found["one person left, 2 random items"]
    assert alone.control.trials == counts["held_out"]
    assert alone.control.successes == 0
    assert found["label guessed correctly, 2 random items"].rate.value == 1


def test_a_file_of_others_is_the_control_instead(untouched, tmp_path):
    others = tmp_path / "others.csv"
    others.write_text("basket,ill\na0 b6,y\na1 b6,n\na2 b6,y\n")
    alone = rates(untouched, control=str(others))["one person left, 2 random items"]
    assert (alone.control.successes, alone.control.trials) == (0, 3)


def test_what_is_not_published_tells_her_nothing(tmp_path):
    kit = fit(source(), ROLES, FitOptions(auc="never"), seed=1, progress=silent)
    policy = {"k": 2, "absences": False, "features": ["basket=a0"]}
    chosen = replace(choose(kit, Choice(policy=0)), policy=policy)
    out = tmp_path / "r.csv"
    release = ITEMSETS.apply(
        kit, chosen, source(), out, ApplyOptions(), force=False, progress=silent
    )
    found = rates(release)
    assert found["one person left before, 2 random items"].rate.value == 1
    assert found["one person left, 2 random items"].rate.successes == 0
    assert found["right person, 2 random items"].rate.value < 0.3
