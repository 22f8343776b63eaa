"""Test that the commands in a report reproduce the kit and the release."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tomli_w
from tests.contracts.conftest import SEED, Case

from voile.cli.run import run
from voile.face.kit import Kit
from voile.face.release import Release
from voile.opening import open_kit, open_release
from voile.release.options import with_options
from voile.report.sections import Audience

LINES = re.compile(r'aria-label="Commands"><code>(.*?)</code>', re.S)
FACT = re.compile(r"<dt>(.*?)</dt><dd>(.*?)</dd>")


@pytest.fixture(scope="module")
def made(case: Case, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Kit, Release]:
    folder = tmp_path_factory.mktemp("made")
    pq.write_table(case.table, folder / "patients of May.parquet")
    source = folder / "patients of May.parquet"
    kit = with_options(case.kit, case.module.options.fit.model_validate(case.options["fit"]))
    policy = kit.choose(policy=len(kit.frontier) // 2)
    policy.save(folder / "policy.toml")
    kit.save(folder / "KIT")
    given = {**case.options["apply"], "keep_order": True}
    return folder, kit, kit.apply(policy, source, folder / "release.csv", **given)


def commands(page: str) -> list[list[str]]:
    (found,) = LINES.findall(page)
    joined = found.replace("\\\n", " ").replace("&#39;", "'").splitlines()
    return [shlex.split(line)[1:] for line in joined]


@pytest.mark.slow
def test_the_commands_of_a_report_make_the_same_again(
    case: Case, made: tuple[Path, Kit, Release], tmp_path: Path, monkeypatch: Any
) -> None:
    folder, kit, release = made
    fit, frontier, *_ = commands(kit.report(internal=True).html)
    assert frontier == [case.kind, "frontier", "KIT"]
    roles = case.tiny.roles().model_dump(mode="json", by_alias=True, exclude_none=True)
    (tmp_path / "roles.toml").write_text(tomli_w.dumps(roles), encoding="utf-8")
    placed = {
        "SOURCE": folder / "patients of May.parquet",
        "ROLES": tmp_path / "roles.toml",
        "SEED": SEED,
        "KIT": tmp_path / "KIT",
        "POPULATION": case.options["fit"].get("population", [""])[0],
    }
    assert run([str(placed.get(word, word)) for word in fit]) == 0
    assert open_kit(tmp_path / "KIT").id == kit.id

    pages = [commands(release.report(internal=True).html)[x] for x in (1, 2, -1)]
    (tmp_path / "patients of May.parquet").write_bytes(placed["SOURCE"].read_bytes())
    monkeypatch.chdir(tmp_path)
    assert [run(words) for words in pages] == [0, 0, 0]
    again = open_release(tmp_path / "release.csv")
    assert again.public["figures"] == release.public["figures"]
    assert again.private["options"] == release.private["options"]


@pytest.mark.parametrize("audience", ["public", "internal"])
def test_a_report_says_when_and_by_what_it_was_made(
    case: Case, made: tuple[Path, Kit, Release], audience: Audience, monkeypatch: Any
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    for subject in made[1:]:
        said = dict(FACT.findall(subject.report(internal=audience == "internal").html))
        assert said["date of this report"] == "1970-01-02"
        assert f"pyarrow {pa.__version__}" in said["libraries"]
        assert {"voile", "Python"} <= said.keys()


def test_the_public_commands_name_no_file_and_no_text_of_the_holder(
    case: Case, made: tuple[Path, Kit, Release]
) -> None:
    folder, kit, release = made
    for page in (kit.report().html, release.report().html):
        assert str(folder) not in page
        assert "patients of May" not in page
    public = [word for line in commands(release.report().html) for word in line]
    assert public[public.index("choose") + 2 :][:2] == ["--policy", "POLICY"]
    assert "SOURCE" in public


def test_the_command_of_an_attack_has_the_options_that_were_given(
    case: Case, made: tuple[Path, Kit, Release], tmp_path: Path
) -> None:
    folder, _, release = made
    given = case.options["attack"]
    evidence = release.attack(original=folder / "patients of May.parquet", seed=SEED, **given)
    evidence.save(tmp_path / "evidence.json")
    read = release.report(tmp_path / "evidence.json").html
    assert commands(read) == commands(release.report(evidence).html)
    (attack,) = (line for line in commands(read) if line[1] == "attack")
    shown = case.module.options.attack.model_validate(given).model_fields_set - {"jobs"}
    assert {f"--{name.strip('_').replace('_', '-')}" for name in shown} <= {*attack}
    assert str(case.folder) not in " ".join(attack)


def test_who_received_a_release_can_verify_it(made: tuple[Path, Kit, Release]) -> None:
    received = Release(made[2].path, made[2].public, module=made[2].module)
    assert commands(received.report().html) == [["verify", "release.csv"]]
