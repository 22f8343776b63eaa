"""A policy that is safe given what is out: by whatever way, the limit holds for all together."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.tables.verbs.test_ledger import (  # noqa: F401
    ROLES,
    how,
    key_file,
    kit,
    ledger,
    of_one,
    people,
)

import voile.tables as vt
from voile.cli.run import run
from voile.core.errors import InfeasibleError, RequestError
from voile.ledger.ledger import Ledger
from voile.tables.joint.figures import ShownRelease, joint_figures
from voile.tables.verbs.content import TablesContent


@pytest.fixture
def out(kit, how, tmp_path):  # noqa: F811
    """A ledger in which the policy of every age is out."""
    kit.apply(of_one(kit, "age"), people(), tmp_path / "a.csv", **how)
    return {"after": how["ledger"], "key_file": how["key_file"]}


def union(kit, *each):  # noqa: F811
    content = TablesContent.of(kit)
    shown = [ShownRelease(content.family.read_policy(one.policy)) for one in each]
    return joint_figures(content.space, shown)


@pytest.mark.parametrize("risk", [0.1, 0.15, 0.2])
def test_the_limit_holds_for_all_together_and_less_is_lost_with_more(kit, out, risk):  # noqa: F811
    chosen = kit.choose(**out, joint_risk=risk)
    found = union(kit, of_one(kit, "age"), chosen)
    whole = TablesContent.of(kit).space.matches
    assert found.matches <= min(risk * whole, 40) + 1e-9
    assert chosen.figures["joint_matches"] == pytest.approx(found.matches)
    assert chosen.figures["joint_risk"] == pytest.approx(found.matches / whole)
    alone = TablesContent.of(kit).score(
        TablesContent.of(kit).family.read_policy(of_one(kit, "age").policy)
    )
    assert chosen.figures["loss"] <= alone.loss + 1e-9


def test_what_is_chosen_is_let_in(kit, out, how, tmp_path):  # noqa: F811
    chosen = kit.choose(**out)
    release = kit.apply(chosen, people(), tmp_path / "b.csv", **how)
    found = release.private["ledger"]
    assert found["high"]["matches"] == pytest.approx(chosen.figures["joint_matches"])
    assert found["high"]["matches"] <= 40
    assert found["releases"] == 1
    assert len(Ledger.read_file(how["ledger"]).released_lines) == 2


def test_the_policy_is_a_file_that_apply_takes(kit, out, how, tmp_path):  # noqa: F811
    kit.save(tmp_path / "kit")
    policy = tmp_path / "p.toml"
    words = ["tables", "choose", tmp_path / "kit", "--after", out["after"], "--joint-risk", ".12"]
    words += ["--key-file", out["key_file"], "--out", policy]
    assert run([*map(str, words)]) == 0
    kit.apply(Path(policy), people(), tmp_path / "b.csv", **how)


def test_what_cannot_be_is_refused(kit, out):  # noqa: F811
    with pytest.raises(
        InfeasibleError, match="the earlier releases exceed the limit by themselves"
    ):
        kit.choose(**out, joint_risk=0.001)
    with pytest.raises(RequestError, match=r"lies in \[0, 1\]"):
        kit.choose(**out, joint_risk=2)
    with pytest.raises(RequestError, match="knee chooses otherwise"):
        kit.choose(**out, knee=True)
    with pytest.raises(RequestError, match="give the ledger with after"):
        kit.choose(joint_risk=0.1)
    with pytest.raises(RequestError, match="file of the secret"):
        kit.choose(after=out["after"])


def test_where_nothing_is_out_the_kits_own_trees_count(ledger, key_file):  # noqa: F811
    trees = vt.fit(people(), ROLES, family="tree", seed=1)
    chosen = trees.choose(after=ledger, key_file=key_file)
    content = TablesContent.of(trees)
    within = content.figures.expected_matches <= 40
    assert within.any()
    assert chosen.figures["loss"] <= content.frontier.loss[within].min() + 1e-9
