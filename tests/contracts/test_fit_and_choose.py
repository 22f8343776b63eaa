"""Test the contract of kits, frontiers and choices for every kind of data."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.contracts.people import CANARIES

from voile.cli.kind import kind_group
from voile.cli.run import run
from voile.core.errors import InfeasibleError, RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import ColumnRole, Roles
from voile.release.choice import RISKS, Choice, Chosen
from voile.release.kit import StoredKit


def axes(kit: StoredKit) -> tuple[Any, Any]:
    frontier = kit.tables["frontier"]
    return frontier["risk"].to_numpy(), frontier["loss"].to_numpy()


def test_a_frontier_trades_risk_for_loss(case: Any) -> None:
    risk, loss = axes(case.kit)
    assert len(risk) == case.kit.facts["policies"] > 2
    assert case.kit.tables["frontier"]["number"].to_pylist() == list(range(len(risk)))
    for axis in (risk, loss):
        assert ((axis >= 0) & (axis <= 1)).all()
    step = np.sign(np.diff(risk))
    assert abs(step.sum()) == len(step)
    assert (np.sign(np.diff(loss)) == -step).all()


def test_no_protection_loses_nothing_and_full_protection_risks_least(case: Any) -> None:
    risk, loss = axes(case.kit)
    open_, closed = case.within(1.0), case.module.choose(case.kit, Choice(max_loss=1.0))
    assert loss[open_.number] == loss.min() == pytest.approx(0.0, abs=1e-9)
    assert risk[closed.number] == risk.min()


def test_a_choice_keeps_its_limit_and_is_the_best_within_it(case: Any) -> None:
    risk, loss = axes(case.kit)
    for limit in (risk.max(), float(np.median(risk))):
        number = case.within(limit).number
        assert risk[number] <= limit
        assert loss[number] == loss[risk <= limit].min()
    for limit in (loss.max(), float(np.median(loss))):
        number = case.module.choose(case.kit, Choice(max_loss=limit)).number
        assert loss[number] <= limit
        assert risk[number] == risk[loss <= limit].min()
    assert 0 <= case.module.choose(case.kit, Choice(knee=True)).number < len(risk)


def test_choosing_reads_the_frontier_and_what_names_its_policies(case: Any) -> None:
    read: set[str] = set()

    class Noted(dict[str, pa.Table]):
        def __getitem__(self, name: str) -> pa.Table:
            read.add(name)
            return super().__getitem__(name)

    kit = replace(case.kit, tables=Noted(case.kit.tables))
    assert case.module.choose(kit, Choice(policy=0)) == case.module.choose(
        case.kit, Choice(policy=0)
    )
    assert read == {"frontier", *case.tiny.NAMED_BY}


@pytest.mark.parametrize("limit", RISKS)
def test_a_limit_is_on_the_risk_that_it_names_or_is_refused(case: Any, limit: str) -> None:
    policies = case.kit.tables["frontier"]
    column = "risk" if limit == case.tiny.LIMIT else RISKS[limit]
    if column not in policies.column_names:
        named = f"choose with --{case.tiny.LIMIT.replace('_', '-')}$"
        with pytest.raises(RequestError, match=named):
            case.module.choose(case.kit, Choice(**{limit: 0.5}))
        return
    risk, loss = (policies[name].to_numpy() for name in (column, "loss"))
    most = float(np.median(risk))
    number = case.module.choose(case.kit, Choice(**{limit: most})).number
    assert risk[number] <= most
    assert loss[number] == loss[risk <= most].min()


ASKED = {
    "max_risk": 1.0,
    "max_relative_risk": 1.0,
    "max_loss": 1.0,
    "beats": "safe-harbor",
    "policy": 0,
    "least_loss": True,
    "knee": True,
}
JOINT = "joint_risk"
"""A way of kinds whose releases are judged together, given a ledger; see `choose_after`."""


def _is_taken(case: Any, way: str) -> bool:
    try:
        case.module.choose(case.kit, Choice(**{way: ASKED[way]}))
    except InfeasibleError:
        return True
    except RequestError:
        return False
    return True


def test_help_offers_the_ways_that_choose_takes(case: Any) -> None:
    assert [field.name for field in fields(Choice)] == [*ASKED, JOINT]
    taken = tuple(way for way in ASKED if _is_taken(case, way))
    command = kind_group(case.module).commands["choose"]
    help = command.get_help(click.Context(click.Command("choose")))
    offered = tuple(way for way in ASKED if f"--{way.replace('_', '-')} " in help)
    assert case.module.ways == offered == taken
    assert (
        (case.module.choose_after is not None) == ("--joint-risk " in help) == ("--after " in help)
    )


def test_a_way_that_is_not_offered_is_refused_with_those_that_are(
    case: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case.kit.save(tmp_path / "kit")
    words = [case.kind, "choose", str(tmp_path / "kit"), "--out", str(tmp_path / "policy.toml")]
    assert run(words) == 2
    ways = ", ".join(f"--{way.replace('_', '-')}" for way in case.module.ways)
    assert capsys.readouterr().err == f"voile: choose by exactly one of {ways}\n"
    for way in ASKED.keys() - {*case.module.ways}:
        assert run([*words, f"--{way.replace('_', '-')}", "1"]) == 2
        assert "no such option" in capsys.readouterr().err


def test_what_no_policy_can_do_is_refused(case: Any) -> None:
    with pytest.raises(InfeasibleError):
        case.fit(case.table, how="impossible")
    with pytest.raises(RequestError):
        case.module.choose(case.kit, Choice(policy=case.kit.facts["policies"]))
    with pytest.raises(RequestError):
        case.module.choose(case.kit, Choice(beats="no such policy"))


def test_fit_stops_at_columns_that_are_undecided(case: Any) -> None:
    told = case.tiny.roles()
    first = next(iter(told.columns))
    columns = {**told.columns, first: ColumnRole(role="undecided")}
    undecided = told.model_copy(update={"columns": columns})
    options = case.module.options.fit.model_validate(case.options["fit"])
    with pytest.raises(RequestError) as refused:
        case.module.fit(open_source(case.table), undecided, options, seed=1, progress=silent)
    assert f"column {first} is undecided; a role is one of " in str(refused.value)
    assert str(refused.value).count("undecided") == 1


def test_the_roles_to_choose_from_are_those_of_the_kind_of_data(case: Any) -> None:
    known, more = case.tiny.roles(), case.table.append_column("more", [[1] * len(case.table)])
    options = case.module.options.fit.model_validate(case.options["fit"])
    with pytest.raises(RequestError) as refused:
        case.module.fit(open_source(more), known, options, seed=1, progress=silent)
    named = re.search(r"column more has no role; .*; a role is one of (.+)", str(refused.value))
    assert named is not None
    common = {"sensitive", "identifier", "label", "keep", "drop"}
    assert {*named[1].split(", ")} == common | case.tiny.OWN_ROLES


def test_the_same_seed_gives_the_same_bytes(case: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        case.fit(case.table).save(tmp_path / name)
    files = sorted(p.name for p in (tmp_path / "one").iterdir())
    assert files == sorted(p.name for p in (tmp_path / "two").iterdir())
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_the_order_of_rows_changes_nothing(case: Any) -> None:
    backwards = case.table.take(pa.array(range(len(case.table) - 1, -1, -1)))
    assert case.fit(backwards).id == case.kit.id


def test_every_row_written_twice_changes_no_risk(case: Any) -> None:
    twice = case.fit(pa.concat_tables([case.table, case.table]))
    assert twice.tables["frontier"].equals(case.kit.tables["frontier"])


def test_a_kit_read_back_is_the_same(case: Any, tmp_path: Path) -> None:
    case.kit.save(tmp_path / "kit")
    read = StoredKit.load(tmp_path / "kit")
    assert read.id == case.kit.id
    assert read.facts == case.kit.facts
    assert read.tables == case.kit.tables
    choice = Choice(max_loss=0.5)
    assert case.module.choose(read, choice) == case.module.choose(case.kit, choice)


def test_a_policy_file_read_back_is_the_same(case: Any, tmp_path: Path) -> None:
    chosen = case.middle()
    (tmp_path / "policy.toml").write_text(chosen.to_toml())
    assert Chosen.read(tmp_path / "policy.toml") == chosen


def test_a_kit_holds_no_identifier(case: Any, tmp_path: Path) -> None:
    case.kit.save(tmp_path / "kit")
    for path in (tmp_path / "kit").iterdir():
        raw = path.read_bytes()
        assert not [c for c in CANARIES if c.encode() in raw]
    for table in case.kit.tables.values():  # Parquet is compressed
        assert not [c for c in CANARIES if c in str(table.to_pydict())]


def test_the_three_sets_of_options_refuse_what_they_do_not_know(case: Any) -> None:
    for model in (case.module.options.fit, case.module.options.apply, case.module.options.attack):
        with pytest.raises(ValueError, match="no_such_option"):
            model.model_validate({"no_such_option": 1})
        for name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{name} says nothing to its user"


PART = pa.struct([("name", pa.string())])
PARTS = {
    "struct": (PART, {"name": "CANARYPART"}),
    "map": (pa.map_(pa.string(), pa.string()), [("name", "CANARYPART")]),
    "list of structs": (pa.list_(PART), [{"name": "CANARYPART"}]),
}


@pytest.mark.parametrize("role", ["keep", "identifier", "sensitive"])
@pytest.mark.parametrize("kind", PARTS)
def test_what_has_parts_that_nothing_looks_into_is_refused(case, kind, role, tmp_path):
    type_, part = PARTS[kind]
    extra = pa.array([part] * len(case.table), type_)
    pq.write_table(case.table.append_column("extra", extra), tmp_path / "s.parquet")
    roles = case.tiny.roles().model_dump(mode="json")
    roles["columns"]["extra"] = {"role": role}
    with pytest.raises(
        RequestError, match=f"column extra is a {kind}; select its parts"
    ) as refused:
        case.module.fit(
            open_source(tmp_path / "s.parquet"),
            Roles.model_validate(roles),
            case.module.options.fit.model_validate(case.options["fit"]),
            seed=1,
            progress=silent,
        )
    assert "CANARY" not in str(refused.value)
