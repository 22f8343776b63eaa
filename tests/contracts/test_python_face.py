"""Test that the verbs have the same options, messages and results in Python as in the shell."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from html import unescape
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import click
import duckdb
import polars as pl
import pyarrow as pa
import pytest
from tests.contracts.conftest import SEED, Case

import voile
from voile.cli.kind import kind_group
from voile.cli.wing_options import spelt
from voile.core.errors import RequestError, TamperedError, VoileError
from voile.data import open_source
from voile.face.kit import Kit, SetAsideWarning
from voile.face.release import Release
from voile.modules import MODULES, find_module
from voile.release.evidence import AttackResults
from voile.release.kit import StoredKit as PlainKit
from voile.release.manifest import manifest_path
from voile.release.options import check_options, fields_of, with_options


def fit(case: Case, thing: Any = None, roles: Any = None, **options: Any) -> Kit:
    call = import_module(f"voile.{case.kind}").fit
    given = {**case.options["fit"], **options}
    source = case.table if thing is None else thing
    return call(source, case.tiny.roles() if roles is None else roles, **{"seed": SEED, **given})


def stored(case: Case) -> str:
    """Return the id of the contract's kit once it holds the options it was fitted with."""
    return with_options(case.kit, case.module.options.fit.model_validate(case.options["fit"])).id


def apply(case: Case, thing: Any = None, out: Path | None = None, **options: Any) -> Release:
    source = case.table if thing is None else thing
    given = {**case.options["apply"], **options}
    return case.kit.apply(case.middle(), source, out, **given)


@pytest.fixture(scope="module")
def held(case: Case) -> Release:
    """Return a release in memory."""
    return apply(case)


@pytest.fixture(scope="module")
def found(case: Case, held: Release) -> AttackResults:
    return held.attack(original=case.table, seed=SEED, **case.options["attack"])


def test_fit_makes_the_kit_that_the_contract_makes(case: Case) -> None:
    assert fit(case).id == stored(case)


def test_a_kit_is_saved_and_opened(case: Case, tmp_path: Path) -> None:
    case.kit.save(tmp_path / "kit")
    assert voile.open_kit(tmp_path / "kit").id == case.kit.id


def test_choose_takes_the_ways_of_its_kind(case: Case) -> None:
    kit = case.kit
    assert kit.choose(policy=0) == case.module.choose(kit, voile.Choice(policy=0))
    least = kit.choose(least_loss=True)
    assert least.number == len(kit.frontier) - 1
    assert least.how == "least loss"
    for nothing in (None, False):  # as a caller with options of its own passes all of them on
        ways = dict.fromkeys(vars(voile.Choice(policy=0)), nothing)
        assert kit.choose(**{**ways, "least_loss": True}) == least


def test_a_release_in_memory_is_that_on_disk(case: Case, tmp_path: Path) -> None:
    here = apply(case, keep_order=True)
    there = apply(case, out=tmp_path / "r.parquet", keep_order=True)
    drawn = {"signals"}  # messages, which hold what is drawn at random from the system
    if case.kind not in drawn:
        assert here.frame.equals(there.frame)
    assert here.frame.schema == there.frame.schema
    for name in ("public", "private"):
        mine, theirs = dict(getattr(here, name)), dict(getattr(there, name))
        assert mine.pop("sha256") != theirs.pop("sha256")
        if case.kind in drawn and name == "private":
            for one in (mine, theirs):
                one.pop("findings")
                one["figures"] = {n: x for n, x in one["figures"].items() if "(" not in n}
        assert mine == theirs


def test_nothing_is_written_for_a_release_in_memory(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    apply(case)
    assert not list(tmp_path.iterdir())


def test_a_release_in_memory_is_saved_as_apply_writes_it(
    case: Case, held: Release, found: AttackResults, tmp_path: Path
) -> None:
    saved = held.save(tmp_path / "r.parquet", found)
    whole = apply(case, out=tmp_path / "whole.parquet")
    mine = {path.name for path in saved.folder.iterdir()}
    assert mine - {path.name for path in whole.folder.iterdir()} == {
        "evidence.json",
        "evidence-seal.json",
    }
    assert not {path.name for path in whole.folder.iterdir()} - mine
    assert saved.frame.equals(held.frame)
    with pytest.raises(RequestError, match="exists already"):
        held.save(tmp_path / "r.parquet")
    opened = voile.open_release(tmp_path / "r.parquet")
    assert opened.public == saved.public
    assert all(check.holds is not False for check in opened.verify())


def test_evidence_and_report_are_those_of_a_release_on_disk(
    case: Case, held: Release, found: AttackResults, tmp_path: Path
) -> None:
    saved = held.save(tmp_path / "r.parquet")
    again = saved.attack(original=case.table, seed=SEED, **case.options["attack"])
    assert tuple(again) == tuple(found)
    with pytest.raises(RequestError, match="this evidence is about another release"):
        saved.report(found)
    place = again.save()
    assert saved.report().html == saved.report(again).html == saved.report(place).html
    page = held.report(found)
    assert page.title == "The release: disclosure risk and utility"
    assert "--out RELEASE" in page.html
    assert "Approved by" in page.html
    assert "Approved by" not in case.kit.report().html
    path = page.save(tmp_path / "report.html")
    assert path.read_text() == held.report(found).html
    with pytest.raises(RequestError, match="the release is in memory"):
        found.save()


MAKES: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": lambda table: table.to_pandas(),
    "Polars": pl.DataFrame,
    "lazy Polars": lambda table: pl.DataFrame(table).lazy(),
    "Arrow": lambda table: table,
    "DuckDB": duckdb.from_arrow,
    "dictionary": lambda table: table.to_pydict(),
}


@pytest.mark.parametrize("make", MAKES)
def test_what_comes_in_goes_out_as_the_same(case: Case, make: str) -> None:
    thing = MAKES[make](case.table)
    release = apply(case, thing)
    frame = release.frame
    assert type(frame) is type(thing)
    assert list(open_source(frame).columns) == [
        one["column"] for one in release.manifest["columns"]
    ]
    assert sum(map(len, open_source(frame).batches())) == len(apply(case).frame)


def test_a_release_holds_no_kit(case: Case, held: Release) -> None:
    from tests.hostile.reaching import reachable

    assert not [thing for thing in reachable(held, {}) if isinstance(thing, PlainKit)]
    with pytest.raises(TypeError, match="a kit contains keys and cannot be pickled"):
        pickle.dumps(case.kit)


def test_columns_that_roles_do_not_name_are_dropped_only_if_asked(case: Case) -> None:
    more = case.table.append_column("more", case.table["ward"])
    with pytest.raises(RequestError, match="column more has no role"):
        fit(case, more)
    assert (
        "more"
        not in fit(case, more, others="drop")
        .apply(case.middle(fit(case, more, others="drop")), more, **case.options["apply"])
        .frame.column_names
    )


def test_roles_are_a_dictionary_or_a_file_as_well(case: Case, tmp_path: Path) -> None:
    data = case.tiny.roles().model_dump()
    assert fit(case, roles=data).id == stored(case)
    proposed = voile.inspect(case.table, case.kind)
    assert set(proposed.columns) == set(case.table.column_names)
    read = voile.Roles.read(proposed.save(tmp_path / "roles.toml"))
    assert read.columns == proposed.columns
    assert proposed.corrected(data["columns"]).columns == case.tiny.roles().columns


ALONE = {
    "fit": {"table", "encoding", "out", "force", "progress"},
    "choose": {"out", "force"},
    "apply": {"table", "encoding", "allow_set_aside", "progress"},
    "attack": {"table", "encoding", "out", "force", "progress"},
}
"""What one face alone has: a path's reading is `open_source`'s, an exit code a command's alone."""
EVERYWHERE = {"_click_default_help", "kit", "release"}


@pytest.mark.parametrize("verb", ["fit", "apply", "attack"])
def test_every_option_is_on_both_faces(verb: str, case: Case, held: Release) -> None:
    call = {
        "fit": import_module(f"voile.{case.kind}").fit,
        "apply": case.kit.apply,
        "attack": held.attack,
    }[verb]
    command = kind_group(case.module).get_command(click.Context(click.Group()), verb)
    there = {str(param.name) for param in command.get_params(click.Context(command))}
    here = set(signature(call).parameters)
    assert here - ALONE[verb] == there - ALONE[verb] - EVERYWHERE
    for param in command.get_params(click.Context(command)):
        if param.name in here and isinstance(param, click.Option) and len(param.opts) == 1:
            assert param.opts == [spelt(str(param.name))]
            assert f"{param.name} : " in call.__doc__


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_finite_number_is_refused_alike(kind: str, number: float) -> None:
    own = find_module(kind)
    for options in own.options:
        for name, field in fields_of(options).items():
            if field.annotation in (float, float | None):
                with pytest.raises(RequestError, match=f"^{name}: must be a finite number"):
                    check_options(options, {name: number})


def test_wrong_keywords_and_values_are_refused_at_once(case: Case, held: Release) -> None:
    for call in (
        lambda **how: fit(case, **how),
        lambda **how: apply(case, **how),
        lambda **how: held.attack(original=case.table, **how),
    ):
        with pytest.raises(RequestError, match=r"no such option: hold_uot"):
            call(hold_uot=1)
    with pytest.raises(RequestError) as told:
        fit(case, hold_out=2, more=1)
    assert str(told.value).startswith("hold_out: must be less than 1; no such option: more")
    with pytest.raises(RequestError, match="seed: must be"):
        fit(case, seed=-1)
    with pytest.raises(RequestError, match="no such option: max_rsk"):
        case.kit.choose(max_rsk=1)
    with pytest.raises(RequestError, match=r"choose by exactly one of .*max_loss.*knee"):
        case.kit.choose()
    with pytest.raises(VoileError):
        case.kit.choose(policy="first")


def test_wrong_frames_roles_and_policies_are_refused(case: Case, held: Release) -> None:
    few = case.table.drop_columns(["ward"])
    with pytest.raises(RequestError, match="there is no column ward"):
        fit(case, few)
    with pytest.raises(RequestError, match="there is no column ward"):
        apply(case, few)
    with pytest.raises(RequestError, match="role"):
        fit(case, roles={"ward": "kep"})
    with pytest.raises(RequestError, match="says no roles"):
        fit(case, roles=3)
    with pytest.raises(RequestError, match="the policy comes from kit 0000"):
        case.kit.apply(case.another(case.middle()), case.table, **case.options["apply"])
    for thing in (3, None, [1, 2], "no such file.csv"):
        with pytest.raises(RequestError):
            fit(case, thing if thing is not None else object())
        with pytest.raises(RequestError):
            case.kit.apply(thing, case.table)


def test_rows_set_aside_are_warned_of(case: Case) -> None:
    lost = case.tiny.outside(case.table, "CANARYOUTSIDE")
    given = {"policy": case.middle(), "source": lost, **case.options["apply"]}
    theirs = {"apply": case.kit.apply, "given": given}
    with pytest.warns(UserWarning, match="rows? set aside: column ") as told:
        exec(compile("apply(**given)", "theirs.py", "exec"), theirs)
    assert "CANARY" not in str([str(one.message) for one in told])
    assert {one.filename for one in told if one.category is SetAsideWarning} == {"theirs.py"}


def test_a_release_whose_manifest_was_changed_is_not_attacked(case: Case, tmp_path: Path) -> None:
    release = apply(case, out=tmp_path / "r.parquet")
    stated = json.loads(manifest_path(release.path).read_text())
    stated["figures"]["risk"] = 0.0
    manifest_path(release.path).write_text(json.dumps(stated))
    changed = voile.open_release(tmp_path / "r.parquet")
    with pytest.raises(TamperedError):
        changed.attack(original=case.table, seed=SEED, **case.options["attack"])


def test_nobody_is_warned_where_every_row_is_released(
    case: Case, recwarn: pytest.WarningsRecorder
) -> None:
    apply(case)
    assert not [one for one in recwarn if one.category is SetAsideWarning]


def test_names_that_load_lazily_are_listed(case: Case) -> None:
    module = import_module(f"voile.{case.kind}")
    assert set(module.__all__) <= set(dir(module))
    assert module.fit is module.fit
    assert getattr(voile, case.kind) is module
    assert {"open_kit", case.kind} <= set(dir(voile))
    assert not {"lazily", "annotations", "TYPE_CHECKING"} & {*dir(module), *dir(voile)}


FRAMED = ("kit", "frontier", "policy", "release", "evidence", "one", "report")


def test_everything_draws_itself_in_a_notebook(
    case: Case, held: Release, found: AttackResults, tmp_path: Path
) -> None:
    kit, report = case.kit, held.report(found)
    shown = (kit, kit.frontier, case.middle(), held, found, found[0], report)
    for name, thing in zip(FRAMED, shown, strict=True):
        html = thing._repr_html_()
        assert html.startswith("<iframe"), name
        assert "CANARY" not in html, name
        assert "\n" not in repr(thing), name
    page = unescape(kit.frontier._repr_html_())
    assert page.count("<title>policy ") == len(kit.frontier)
    saved = kit.frontier.plot().save(tmp_path / "frontier.html").read_text("utf-8")
    assert saved.count("<title>policy ") == len(kit.frontier)
    names = held.to_arrow().column_names
    assert names == list(held.to_pandas().columns) == list(held.to_polars().columns)
    assert list(kit.frontier.to_pandas().columns) == kit.frontier.to_arrow().column_names
    assert len(kit.frontier.to_polars()) == len(kit.frontier) == kit.policies


def test_evidence_is_a_table_of_its_findings(found: AttackResults) -> None:
    table = found.to_pandas()
    findings = [one for evidence in found for one in evidence.findings]
    assert len(table) == len(findings) == len(found.to_polars())
    tried = [one.rate.value for one in findings if one.rate.trials]
    assert table.found.dropna().tolist() == tried
    assert list(table.columns) == found.to_arrow().column_names


def test_a_role_that_does_not_exist_is_refused_with_its_column(case: Case) -> None:
    columns = {name: column.role for name, column in case.tiny.roles().columns.items()}
    with pytest.raises(RequestError, match=r"columns\.ward\.role: .*'keep'"):
        fit(case, roles={**columns, "ward": "kep"})


def test_a_kit_s_frontier_is_asked_as_any_frontier(case):
    frontier, kit = case.kit.frontier, case.kit
    assert len(frontier.risk) == len(frontier.loss) == len(frontier.policies)
    assert 0 <= frontier.area() <= 1
    assert frontier.at(risk=float(frontier.risk[-1])).policy == frontier.policies[-1]
    assert frontier.knee().policy in frontier.policies
    if "knee" in case.module.ways:
        assert kit.choose(knee=True).number == frontier.knee().policy
