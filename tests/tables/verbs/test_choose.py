"""What chooses by a named policy: the least loss among those that beat it, or why none does."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace

import pytest
from tests.tables.verbs.test_fit import fitted, people

from voile.core.errors import InfeasibleError, RequestError
from voile.release.choice import Choice
from voile.release.kit import StoredKit
from voile.tables.verbs.choose import OneGroupWarning, choose
from voile.tables.verbs.content import TablesContent, TablesPolicies

BEATS = Choice(beats="safe-harbor")


@pytest.fixture(scope="module")
def kit() -> StoredKit:
    return fitted(people(), method="exhaustive")


def beside(kit: StoredKit, **figures: float) -> StoredKit:
    """Return the kit with a policy called Safe Harbor that scores these, else as the top."""
    content = TablesContent.of(kit)
    score = content.score(content.space.policy(content.space.top))._replace(**figures)
    named = {"mark_scores": {"safe-harbor": score._asdict()}, "absent": {}}
    return replace(kit, facts={**kit.facts, **named})


def test_the_least_loss_is_chosen_of_those_that_beat_a_named_policy(kit):
    middle = kit.policies // 2
    row = kit.tables["frontier"].slice(middle, 1).to_pylist()[0]
    lost = {name: row[name] + 0.01 for name in ("loss", "distribution", "resolution")}
    named = beside(kit, risk=row["risk"] + 0.2, **lost)
    beating = TablesPolicies.of(named).beating("safe-harbor").tolist()
    loss = kit.tables["frontier"].column("loss").to_pylist()
    chosen = choose(named, BEATS)
    assert len({loss[number] for number in beating}) > 1
    assert chosen.number in beating
    assert loss[chosen.number] == min(loss[number] for number in beating)


def test_a_named_policy_that_loses_nothing_is_beaten_by_less_risk_alone(kit):
    least = kit.tables["frontier"].column("loss").to_pylist()[-1]
    named = beside(kit, risk=1.2, loss=0.0, distribution=0.0, resolution=0.0)
    assert TablesPolicies.of(named).mark_scores["safe-harbor"].loses_nothing
    assert choose(named, BEATS).figures["loss"] == least == 0


def test_that_none_beats_a_named_policy_is_said_with_its_scores(kit):
    named = beside(kit, risk=0.125, loss=0.01, distribution=0.01, resolution=0.01)
    with pytest.raises(
        InfeasibleError, match=r"risk of safe-harbor \(0.125\) and at most its loss"
    ):
        choose(named, BEATS)


def test_a_name_that_is_not_there_is_refused_with_the_nearest_or_why(kit):
    named = beside(kit)
    with pytest.raises(RequestError, match="called safe-harbour; did you mean safe-harbor"):
        choose(named, Choice(beats="safe-harbour"))
    absent = {"own": "its cuts are not on this lattice"}
    lacking = replace(named, facts={**named.facts, "absent": absent})
    with pytest.raises(RequestError, match="own is not among these policies: its cuts are not on"):
        choose(lacking, Choice(beats="own"))


def test_where_nothing_beats_a_named_policy_each_remedy_works(kit):
    """What a k of 40 forbids, a smaller one finds; and the nearest policy can be chosen."""
    table = people()
    held = fitted(table, method="exhaustive", k=40)
    own = kit.tables["frontier"].slice(kit.policies * 3 // 4, 1).to_pylist()[0]
    mark = {"risk": own["risk"] + 1e-6, "loss": own["loss"] + 1e-6}
    with pytest.raises(InfeasibleError, match="the kit's policies keep k = 40, and safe") as error:
        choose(beside(held, **mark), BEATS)
    remedy = re.fullmatch(
        r"choose with --policy (\d+) \(loss ([.\d]+)\), or fit with a smaller --k",
        error.value.instead,
    )
    near = choose(held, Choice(policy=int(remedy[1]))).figures
    assert near["loss"] == pytest.approx(float(remedy[2]), abs=1e-4)
    assert near["relative_risk"] <= mark["risk"]
    assert choose(beside(kit, **mark), BEATS).figures["loss"] <= mark["loss"]


def test_the_remedy_names_the_limit_that_the_kit_has(kit):
    mark = {"risk": 0.125, "loss": 0.01}
    with pytest.raises(InfeasibleError) as error:
        choose(beside(kit, **mark), BEATS)
    assert error.value.instead.endswith("or search longer")
    assert "keep" not in str(error.value)
    with pytest.raises(InfeasibleError) as error:
        choose(beside(fitted(people(), method="exhaustive", max_risk=0.1), **mark), BEATS)
    assert error.value.instead.endswith("or fit with a larger --max-risk")
    with pytest.raises(InfeasibleError, match="loses nothing of these"):
        choose(beside(kit, risk=0.1, loss=0.0, distribution=0.0, resolution=3e-16), BEATS)


def test_where_every_policy_risks_more_than_a_named_one_the_least_risk_is_said(kit):
    risk = kit.tables["frontier"].column("risk").to_numpy()
    bare = replace(kit, tables={**kit.tables, "frontier": kit.tables["frontier"].slice(1)})
    with pytest.raises(
        InfeasibleError, match=f"risk {risk[1]:.4g}, the least found, or search longer"
    ):
        choose(beside(bare, risk=risk[0]), BEATS)


def test_choosing_warns_of_columns_that_are_one_group_at_the_caller_s_line(kit):
    with pytest.warns(OneGroupWarning, match="size, sex and town are one group each") as found:
        choose(kit, Choice(policy=0))
    assert found[0].filename == __file__
    with warnings.catch_warnings(action="error"):
        choose(kit, Choice(least_loss=True))
    groups = (TablesPolicies.of(kit).policy(n).groups_per_column for n in range(kit.policies))
    alone = next(n for n, each in enumerate(groups) if sorted(each.values())[:2] == [1, 2])
    with pytest.warns(OneGroupWarning, match="^[a-z]+ is one group: a release distinguishes none"):
        choose(kit, Choice(policy=alone))
