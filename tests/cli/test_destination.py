"""What a command reads is known by every name it has, and never written to."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click
import pytest

from voile.cli.destination import DestinationOption, check_destinations
from voile.core.errors import RequestError
from voile.data.files.outputs import DEMO, KIT, KIT_FORMAT, POLICY, RELEASE, REPORT

PATH = click.Path(path_type=Path)
SOURCE, MORE = click.Argument(["source"], type=PATH), click.Option(["--more"], type=PATH)
MANY = click.Option(["--many"], type=PATH, multiple=True)


def check(out: object, output: Any = REPORT, **given: Any) -> None:
    to = DestinationOption("--out", "OUT", output, help="")
    check_destinations([SOURCE, MORE, MANY, to], {"out": Path(str(out)), **given})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "c.csv").write_text("x\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("read", ["a.csv", "./folder/../a.csv", "name=a.csv", "csv:a.csv", "a*"])
@pytest.mark.parametrize("place", ["source", "more", "many"])
def test_an_input_is_no_output_by_whatever_name(home: Path, read: str, place: str) -> None:
    given = {place: (Path("b.csv"), Path(read)) if place == "many" else Path(read)}
    with pytest.raises(
        RequestError,
        match=r"a\.csv: the command reads this file as its input; write to another path",
    ):
        check(home / "a.csv", force=True, **given)
    check(home / "new.html", force=True, **given)


def test_a_policy_is_edited_in_its_place_with_force(home: Path) -> None:
    (home / "policy.toml").write_text('kind = "tables"\nkit = "1"\n[choice]\n[figures]\n[policy]\n')
    with pytest.raises(RequestError, match="the command reads this file"):
        check(home / "policy.toml", POLICY, more=Path("policy.toml"))
    check(home / "policy.toml", POLICY, more=Path("policy.toml"), force=True)
    with pytest.raises(RequestError, match="is not a policy that voile wrote"):
        check(home / "a.csv", POLICY, more=Path("a.csv"), force=True)


def test_a_pattern_reaches_into_every_folder(home: Path) -> None:
    (home / "folder" / "deeper").mkdir()
    (home / "folder" / "deeper" / "d.csv").write_text("x\n")
    with pytest.raises(RequestError, match=r"d\.csv: the command reads this file"):
        check(home / "folder" / "deeper" / "d.csv", source=Path("**/d.csv"), force=True)


def test_what_is_no_path_or_was_not_given_names_no_file(home: Path) -> None:
    title = click.Option(["--title"], type=str)
    to = DestinationOption("--out", "OUT", REPORT, help="")
    for name in ("None", "page.html"):
        (home / name).write_text('<meta name="generator" content="voile 1">')
        given = {"source": Path("a.csv"), "more": None, "title": "page.html", "force": True}
        check_destinations([SOURCE, MORE, title, to], {**given, "out": home / name})


def test_an_input_may_be_called_as_a_pattern_is(home: Path) -> None:
    (home / "a[1].csv").write_text("x\n")
    with pytest.raises(RequestError, match="the command reads this file"):
        check(home / "a[1].csv", force=True, source=Path("a[1].csv"))


def test_an_input_that_is_a_part_of_the_output_stays(home: Path) -> None:
    (home / "r.csv.manifest.json").write_text("{}")
    with pytest.raises(RequestError, match=r"r\.csv\.manifest\.json: the command reads this file"):
        check(home / "r.csv", RELEASE, source=Path("r.csv.manifest.json"), force=True)


def test_nothing_is_put_into_an_input(home: Path) -> None:
    (home / "link").symlink_to(home / "folder")
    for out in ("folder/new.html", "link/new.html"):
        with pytest.raises(RequestError, match=r"is in .*folder, which this command reads"):
            check(home / out, source=home / "folder")
    with pytest.raises(RequestError, match="is in"):
        check(home / "folder" / "new", None, source=home / "folder")
    check(home / "new.html", source=home / "folder")


def test_what_is_replaced_holds_no_input(home: Path) -> None:
    (home / "link.csv").symlink_to(home / "folder" / "c.csv")
    (home / "away").mkdir()
    (home / "folder" / "out.csv").symlink_to(home / "away" / "d.csv")
    (home / "away" / "d.csv").touch()
    for read in ("folder/c.csv", "link.csv", "folder/out.csv"):
        with pytest.raises(RequestError, match=r"contains .* which this command reads"):
            check(home / "folder", KIT, source=Path(read), force=True)
    check(home / "folder", None, source=Path("folder/c.csv"))  # a folder that is added to


@pytest.mark.parametrize("out", ["no/such/new.html", "..", "/"])
def test_an_output_has_a_name_and_a_folder(home: Path, out: str) -> None:
    with pytest.raises(
        RequestError,
        match=r"the folder no/such does not exist|the path does not end in a file name",
    ):
        check(out, source=Path("a.csv"))


def test_what_is_there_needs_force_and_is_voile_s(home: Path) -> None:
    (home / "page.html").write_text('<meta name="generator" content="voile 1">')
    with pytest.raises(RequestError, match="replace it with --force"):
        check("page.html", source=Path("a.csv"))
    check("page.html", source=Path("a.csv"), force=True)
    assert (home / "page.html").exists()
    with pytest.raises(RequestError, match="is not a report that voile wrote"):
        check("b.csv", source=Path("a.csv"), force=True)
    assert not [path for path in os.listdir() if path.endswith(".voile")]


def test_an_output_that_was_not_asked_for_is_not_looked_at(home: Path) -> None:
    to = DestinationOption("--out", "OUT", DEMO, help="", required=False)
    check_destinations([SOURCE, to], {"source": home / "a.csv", "out": None})
    check_destinations([SOURCE, to], {"source": None, "out": home / "new"})


@pytest.mark.parametrize(
    ("read", "asked", "said"),
    [
        (
            "d.duckdb::visits",
            None,
            "the command reads this file as its input; write to another path",
        ),
        (
            "d.duckdb::main.Visits",
            None,
            "the command reads this file as its input; write to another path",
        ),
        ("d.duckdb", "visits", "the command reads this file as its input; write to another path"),
        (
            "d.duckdb",
            None,
            "this command reads a table of the output's database; "
            "name the output's table: d.duckdb::TABLE",
        ),
        ("d.duckdb::other", None, None),
        ("a.csv", "visits", None),
    ],
)
def test_a_table_that_is_read_is_not_written(
    home: Path, read: str, asked: str | None, said: str | None
) -> None:
    import duckdb

    duckdb.connect("d.duckdb").close()
    given = {"source": Path(read), "table": asked, "force": True}
    if said is None:
        check("d.duckdb::visits", RELEASE, **given)
    else:
        with pytest.raises(RequestError, match=said):
            check("d.duckdb::visits", RELEASE, **given)


@pytest.mark.parametrize(
    "out", ["a.csv.private/new.csv", "a.csv.private/deeper/new.csv", "link/new.csv", "kit/new.csv"]
)
def test_nothing_is_put_among_the_files_of_a_release_or_of_a_kit(home: Path, out: str) -> None:
    (home / "a.csv.private" / "deeper").mkdir(parents=True)
    (home / "link").symlink_to(home / "a.csv.private")
    (home / "kit").mkdir()
    (home / "kit" / "kit.json").write_text(json.dumps({"format": KIT_FORMAT}))
    with pytest.raises(RequestError, match=r"may contain only the files of (its release|a kit)"):
        check(home / out, source=Path("b.csv"), force=True)
    assert not (home / out).exists()
