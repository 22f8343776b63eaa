"""Test that `--force` replaces only outputs of the same kind that voile wrote."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from tests.cli.conftest import files, voile

from voile.cli.app import command
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease

__all__ = ["files", "voile"]

Words = list[object]


class World:
    """A folder with a kit, a policy, a release with its evidence and report, and a user's own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __getitem__(self, name: str) -> Path:
        return self.folder / name

    def state(self) -> dict[str, str]:
        """Return what is where: links by their targets, files by their bytes."""
        found = {}
        for place in sorted(self.folder.rglob("*")):
            name = str(place.relative_to(self.folder))
            if place.is_symlink():
                found[name] = f"-> {os.readlink(place)}"
            else:
                bytes_ = place.read_bytes() if place.is_file() else b"a folder"
                found[name] = hashlib.sha256(bytes_).hexdigest()
        return found


@pytest.fixture(scope="module")
def made(files: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from voile.cli.run import run

    folder = tmp_path_factory.mktemp("made")
    for name in ("kit", "policy.toml", "roles.toml"):
        copy = shutil.copytree if name == "kit" else shutil.copy
        copy(files.folder / name, folder / name)
    for name in ("patients.csv", "population.parquet", "register-adversary.csv"):
        shutil.copy(files.folder / "county" / name, folder / name)
    (folder / "key").write_text("k" * 40)
    (folder / "key").chmod(0o600)
    world = World(folder)
    release = world["r.csv"]
    for words in (
        apply(world, release),
        attack(world, folder / "e.json"),
        ["report", release, "--out", folder / "page.html"],
    ):
        assert run([str(word) for word in (*words, "--quiet")]) == 0
    (folder / "home" / "docs").mkdir(parents=True)
    (folder / "home" / "docs" / "thesis.txt").write_text("years of work")
    (folder / "notes.txt").write_text("mine")
    return folder


@pytest.fixture
def world(made: Path, tmp_path: Path) -> World:
    return World(Path(shutil.copytree(made, tmp_path / "a world", symlinks=True)))


def fit(world: World, out: object) -> Words:
    source = [world["patients.csv"], "--roles", world["roles.toml"]]
    how = ["--population", world["population.parquet"], "--method", "steepest"]
    return ["tables", "fit", *source, *how, "--out", out]


def choose(world: World, out: object) -> Words:
    return ["tables", "choose", world["kit"], "--knee", "--out", out]


def apply(world: World, out: object, *, source: object = None) -> Words:
    given = ["--policy", world["policy.toml"], "--key-file", world["key"]]
    source = source or world["patients.csv"]
    return ["tables", "apply", world["kit"], source, *given, "--out", out]


def attack(world: World, out: object) -> Words:
    known = ["--register", world["register-adversary.csv"]]
    truth = ["--original", world["patients.csv"]]
    return ["tables", "attack", world["r.csv"], *truth, *known, "--out", out]


def report(world: World, out: object) -> Words:
    evidence = ["--evidence", world["e.json"]]
    return ["report", world["r.csv"], *evidence, "--out", out]


def inspect(world: World, out: object) -> Words:
    return ["inspect", world["patients.csv"], "--out", out]


VERBS: dict[str, Callable[..., Words]] = {
    "inspect": inspect,
    "fit": fit,
    "choose": choose,
    "apply": apply,
    "attack": attack,
    "report": report,
    "demo": lambda _, out: ["demo", "--out", out],
}
THERE = (
    "home",
    "notes.txt",
    "kit",
    "kit/kit.json",
    "policy.toml",
    "roles.toml",
    "key",
    "patients.csv",
    "population.parquet",
    "register-adversary.csv",
    "r.csv",
    "r.csv.manifest.json",
    "r.csv.private",
    "r.csv.private/rows.parquet",
    "e.json",
    "page.html",
)
OWN = {
    ("inspect", "roles.toml"),
    ("fit", "kit"),
    ("choose", "policy.toml"),
    ("apply", "r.csv"),
    ("report", "page.html"),
    ("attack", "e.json"),
}
"""What each verb wrote, and may replace: all else of `THERE` it may not."""


def refused(voile: Any, world: World, words: Words) -> str:
    """Run a command that is refused in one sentence, and leaves everything as it was."""
    before = world.state()
    ran = voile(*words, "--force")
    assert ran.code == 2, ran.err
    assert len(ran.err.splitlines()) == 1
    assert world.state() == before
    return str(ran.err)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", THERE)
def test_a_verb_replaces_what_it_wrote_and_nothing_else(
    voile: Any, world: World, verb: str, name: str
) -> None:
    words = VERBS[verb](world, world[name])
    if (verb, name) not in OWN:
        refused(voile, world, words)
        return
    asked = voile(*words)
    assert (asked.code, asked.err) == (
        2,
        f"voile: {world[name]}: the output exists already; replace it with --force\n",
    )
    ran = voile(*words, "--force")
    assert ran.code == 0, ran.err
    assert not [place for place in world.folder.iterdir() if place.name.endswith(".voile")]


def test_parts_are_replaced_together(voile: Any, world: World) -> None:
    before = StoredRelease.open(world["r.csv"])
    assert voile(*apply(world, world["r.csv"]), "--class-id", "--force").code == 0
    after = StoredRelease.open(world["r.csv"])
    assert before.public["sha256"] != after.public["sha256"]
    assert not (after.folder / "evidence.json").exists()


@pytest.mark.parametrize("part", ["r.csv.manifest.json", "r.csv.private"])
@pytest.mark.parametrize("main", [True, False])
def test_a_part_that_is_foreign_stops_the_whole(
    voile: Any, world: World, part: str, main: bool
) -> None:
    shutil.rmtree(world["r.csv.private"])
    world["r.csv.manifest.json"].unlink()
    if not main:
        world["r.csv"].unlink()
    if part.endswith("json"):
        world[part].write_text('{"format": "mine"}')
    else:
        world[part].mkdir(mode=0o700)
        world[part].joinpath("notes").write_text("unrelated")
    refused(voile, world, apply(world, world["r.csv"]))


def test_a_private_folder_with_anything_else_in_it_stays(voile: Any, world: World) -> None:
    private = world["r.csv.private"]
    for words in (
        ("report", world["r.csv"], "--out", private / "page.html"),
        attack(world, private / "second.json"),
        fit(world, private / "kit"),
        fit(world, world["kit"] / "kit"),
        apply(world, private / "x.csv"),
    ):
        assert "which may contain only the files of" in refused(voile, world, words)
    assert voile(*apply(world, world["r.csv"]), "--force").code == 0
    for name, put in {
        "notes": lambda at: at.write_text("the officer's own"),
        "rows.parquet": lambda at: (at.unlink(), at.mkdir(), (at / "x").touch()),
        "more": lambda at: at.mkdir(),
        "link": lambda at: at.symlink_to(world["notes.txt"]),
    }.items():
        kept = private / name
        put(kept)
        said = refused(voile, world, apply(world, world["r.csv"]))
        assert f"exists and contains {name}, which voile did not write" in said
        shutil.rmtree(private)
        for part in (world["r.csv"], world["r.csv.manifest.json"]):
            part.unlink()
        assert voile(*apply(world, world["r.csv"])).code == 0


def test_a_kit_with_anything_else_in_it_stays(voile: Any, world: World) -> None:
    world["kit"].joinpath("minutes.txt").write_text("why we chose this policy")
    assert "contains minutes.txt, which voile did not write" in refused(
        voile, world, fit(world, world["kit"])
    )


def test_the_source_in_a_private_folder_stays(voile: Any, world: World) -> None:
    source = world["r.csv.private"] / "t.csv"
    shutil.copy(world["patients.csv"], source)
    refused(voile, world, apply(world, world["r.csv"], source=source))


WAYS: dict[str, Callable[[Path, Path], object]] = {
    "itself": lambda _, at: at,
    "a relative path": lambda _, at: os.path.relpath(at),
    "by way of a folder": lambda folder, at: f"{folder}/home/../{at.name}",
    "a trailing slash": lambda _, at: f"{at}/",
    "a symbolic link": lambda folder, at: linked(folder / "link", at),
    "a hard link": lambda folder, at: hard_linked(folder / "hard", at),
    "through a linked folder": lambda folder, at: linked(folder / "dir", folder) / at.name,
}


def linked(link: Path, at: Path) -> Path:
    link.symlink_to(at)
    return link


def hard_linked(link: Path, at: Path) -> Path:
    if at.is_dir():
        pytest.skip("folders have no hard links")
    os.link(at, link)
    return link


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (lambda w, out: [*fit(w, out), "--resume", w["kit"]], "kit"),
        (lambda w, out: [*report(w, out), "--evidence", w["page.html"]], "page.html"),
        (lambda w, out: apply(w, out, source=w["r.csv"]), "r.csv"),
        (lambda w, out: [*fit(w, out), "--population", w["r.csv"]], "r.csv"),
        (lambda w, out: [*attack(w, out), "--control", w["e.json"]], "e.json"),
    ],
    ids=["resume", "evidence", "source", "population", "control"],
)
def test_an_input_is_never_replaced_by_whatever_name(
    voile: Any, world: World, way: str, words: Any, name: str
) -> None:
    out = WAYS[way](world.folder, world[name])
    refused(voile, world, words(world, out))


@pytest.mark.parametrize("out", ["kit/policy.toml", "kit/new/policy.toml", "kit/../kit/p.toml"])
def test_nothing_is_put_into_an_input(voile: Any, world: World, out: str) -> None:
    refused(voile, world, choose(world, f"{world.folder}/{out}"))


@pytest.mark.parametrize("out", [".", "..", "/", "./", "no/such/folder/r.csv"])
def test_an_output_has_a_name_and_a_folder(
    voile: Any, world: World, out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(world.folder)
    for verb in VERBS.values():
        refused(voile, world, verb(world, out))


def test_a_link_is_not_replaced(voile: Any, world: World) -> None:
    for name, verb in (("page.html", report), ("kit", fit), ("policy.toml", choose)):
        link = world.folder / f"link to {name}"
        link.symlink_to(world[name])
        refused(voile, world, verb(world, link))
        link.unlink()
        link.symlink_to(world["not there"])
        refused(voile, world, verb(world, link))


def test_an_output_with_a_name_that_is_no_text_is_refused(voile: Any, world: World) -> None:
    assert "is not UTF-8 text" in refused(voile, world, apply(world, world["\udcff.csv"]))


def test_a_device_is_not_replaced(voile: Any, world: World) -> None:
    os.mkfifo(world["pipe"])
    for verb in ("inspect", "choose", "report", "attack"):
        ran = voile(*VERBS[verb](world, world["pipe"]), "--force")
        assert (ran.code, world["pipe"].is_fifo()) == (2, True)
        ran = voile(*VERBS[verb](world, "/dev/null"), "--force")
        assert (ran.code, Path("/dev/null").is_char_device()) == (2, True)


@pytest.mark.parametrize("name", ["loop", "x" * 250, "x" * 5000])
def test_a_path_that_leads_nowhere_is_said(voile: Any, world: World, name: str) -> None:
    world["loop"].symlink_to("loop")
    place = f"{world.folder}/{name}"
    refused(voile, world, choose(world, place))
    refused(voile, world, apply(world, world["new.csv"], source=world["loop"]))


def test_what_came_during_the_run_stays(tmp_path: Path) -> None:
    kit = StoredKit("tables", "private", {"policies": 1})
    from voile.core.errors import RequestError
    from voile.data.files.atomic import write_folder
    from voile.data.files.outputs import KIT

    kit.save(tmp_path / "kit")
    with pytest.raises(RequestError, match=r"thesis\.txt, which voile did not write"):  # noqa: PT012, SIM117
        with write_folder(tmp_path / "kit", KIT, force=True) as folder:
            (folder / "kit.json").write_text("{}")
            (tmp_path / "kit" / "thesis.txt").write_text("years of work")
    assert (tmp_path / "kit" / "thesis.txt").read_text() == "years of work"


NO_PLACES = {
    "accept_risk",
    "send",
    "change",
    "merge",
    "split",
    "table",
    "encoding",
    "miss_cost",
    "weight",
    "beats",
    "kind",
    "patterns",
    "record",
    "inspections",
    "k",
    "items",
    "strength",
    "time",
    "generation",
    "subject",
    "broker",
    "topic",
    "knows",
    "people",
    "risk",
    "loss",
    "outcomes",
    "by",
    "part",  # of a study: a name
    "known_kind",
    "reviewer",
    "zip_column",
    "age_column",
    "person",
    "text",
    "spans",
    "subject_pattern",
    "file_names",
    "key",  # of assess: a column
    "counts",
    "left",
    "signer",
    "condition",
    "reason",
    "override",
    "pseudonym",
    "recipient",
    "last",
    "spark_conf",
}
"""What a command takes as text and that names no file, folder or table: all else is a path."""


def commands(command: click.Command) -> Iterator[click.Command]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):  # some load when they are asked for
            yield from commands(command.get_command(context, name))
    else:
        yield command


def test_whatever_a_command_reads_is_known_as_its_input() -> None:
    """An option that names a file as mere text could be overwritten by its own command."""
    texts = set()
    for one in commands(command):
        for param in one.get_params(click.Context(one)):
            if param.type.name.upper() == "TEXT" and not isinstance(param.type, click.Choice):
                texts.add(param.name)
    assert texts == NO_PLACES
