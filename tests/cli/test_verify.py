"""Each thing that is changed of a release makes its own check fail, in words, and no other."""

from __future__ import annotations

import csv
import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import Voile
from tests.cli.conftest import voile as voile

from voile.core.errors import TamperedError
from voile.data import open_source
from voile.data.files.outputs import EVIDENCE_FORMAT
from voile.keys.seal import EVIDENCE_SEAL, SEAL, Seal, file_sha256
from voile.keys.secret import Secret
from voile.release.manifest import (
    FORMAT,
    MANIFEST,
    RELEASE,
    Release,
    encode,
    manifest_path,
    private_path,
)
from voile.release.verify import check_evidence, check_seal, has_rows, is_keyed, seal_evidence

KEY = "a secret that the forger has not: 0123456789abcdef"
SECRET, OTHER = Secret(KEY.encode()), Secret(b"x" * 32)
HEAD = {"format": FORMAT, "version": 1, "kind": "documents"}
COLUMNS = [
    {"column": "note", "role": "text"},
    {"column": "who", "role": "identifier", "from": "name"},
    {"column": "made here", "role": "keep"},
]
ROLES = {"note": {"role": "text"}, "name": {"role": "identifier"}}
COUNTS = {
    "read": 7,
    "released": 2,
    "held_out": 1,
    "suppressed": 2,
    "set_aside": 2,
    "set_aside_by": [
        {"column": "", "reason": "too long", "rows": 1},
        {"column": "note", "reason": "no text", "rows": 2},
    ],
}
ASIDE = [("0", "note", "no text"), ("3", "note", "no text"), ("3", "", "too long")]
EXACT = {"rows": 2.0, "documents": 2.0, "characters": 16.0, "marks": 1.0}
ACCOUNT = "rows in = released + set aside + suppressed + held out"
READ = "the manifests can be read as those of a release of documents"
TOLD = "the public figures are the private ones"
PRIVATE = "the private folder is open to its owner alone"


@dataclass(frozen=True)
class Home:
    """A release of two notes with all that lies beside it."""

    out: Path

    @property
    def folder(self) -> Path:
        return private_path(self.out)

    @property
    def hidden(self) -> Path:
        return self.folder / "manifest.json"

    @property
    def evidence(self) -> Path:
        return self.folder / "evidence.json"

    def edit(self, path: Path, change: Callable[[Any], Any]) -> None:
        data = json.loads(path.read_bytes())
        change(data)
        path.write_bytes(encode(data))

    def hash(self) -> None:
        """Have both manifests name the bytes of the release."""
        for path in (manifest_path(self.out), self.hidden):
            self.edit(path, lambda data: data.update(sha256=file_sha256(self.out)))

    def seal(self, secret: Secret | None = None) -> None:
        """Seal anew what is there, as whoever can write the folder can."""
        for name in (SEAL, EVIDENCE_SEAL, "evidence.json"):
            (self.folder / name).unlink(missing_ok=True)
        named = {RELEASE: self.out, MANIFEST: manifest_path(self.out)}
        (self.folder / SEAL).write_bytes(Seal.of(named, self.folder, secret).to_bytes())
        self.evidence.write_bytes(encode({"format": EVIDENCE_FORMAT}))
        seal_evidence(Release.open(self.out), self.evidence, secret)


def write_home(folder: Path) -> Home:
    home = Home(folder / "out.csv")
    home.out.write_text("note,who,made here\nMet [NAME].,r1,x\nWell.,r2,y\n")
    home.folder.mkdir(mode=0o700)
    numbers = {"rows.parquet": [4, 1], "control.parquet": [2]}
    for name, rows in numbers.items():
        pq.write_table(pa.table({"row": rows}), home.folder / name)
    write_aside(home, ASIDE)
    public = {**HEAD, "sha256": "", "columns": COLUMNS, "figures": {"loss": 0.13, "documents": 2.0}}
    hidden = {
        **HEAD,
        "sha256": "",
        "counts": COUNTS,
        "chosen": {"figures": {"loss": 0.1234}},
        "figures": EXACT,
        "roles": {"columns": ROLES},
    }
    manifest_path(home.out).write_bytes(encode(public))
    home.hidden.write_bytes(encode(hidden))
    home.hash()
    home.seal(SECRET)
    return home


def write_aside(home: Home, lines: list[tuple[str, str, str]]) -> None:
    with (home.folder / "set-aside.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("row", "column", "reason"), *lines])


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return write_home(tmp_path)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOILE_SECRET", KEY)


def states(voile: Voile, home: Home) -> dict[str, bool | None]:
    """Return what `voile verify` says of each check; its exit code says the same."""
    ran = voile("verify", home.out, "--json")
    found = {one["check"]: one["ok"] for one in ran.json["checks"]}
    assert ran.json["ok"] == (False not in found.values()) == (ran.code == 0)
    assert ran.code in (0, 1)
    return found


def failed(voile: Voile, home: Home) -> set[str]:
    return {says for says, ok in states(voile, home).items() if ok is False}


@pytest.mark.usefixtures("key")
def test_all_that_can_be_checked_holds(voile: Voile, home: Home) -> None:
    found = states(voile, home)
    left = {says for says, ok in found.items() if ok is None}
    assert left == {"loss: not measured again: it takes the annotated text"}
    assert {
        "the bytes are those that the manifest names",
        PRIVATE,
        "the release is as seal.json has it",
        "the public manifest is as seal.json has it",
        "manifest.json is as seal.json has it",
        "rows.parquet is as seal.json has it",
        "seal.json was made under this secret",
        "evidence.json is as evidence-seal.json has it",
        "evidence-seal.json was made under this secret",
        ACCOUNT,
        TOLD,
        *(f"{name} is as certified" for name in EXACT),
    } <= found.keys()
    lines = voile("verify", home.out).out.splitlines()
    assert lines[0] == "ok          the bytes are those that the manifest names"
    assert [line for line in lines if line[:12] == "not checked "] == [
        f"not checked {says}" for says in left
    ]
    assert len(lines) == len(found)


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("out.csv", "the release is as seal.json has it"),
        ("out.csv.manifest.json", "the public manifest is as seal.json has it"),
        ("out.csv.private/manifest.json", "manifest.json is as seal.json has it"),
        ("out.csv.private/set-aside.csv", "set-aside.csv is as seal.json has it"),
    ],
)
def test_bytes_that_apply_did_not_write(voile: Voile, home: Home, name: str, said: str) -> None:
    release, path = Release.open(home.out), home.out.parent / name
    check_seal(release, SECRET)
    path.write_bytes(path.read_bytes() + b"\n")
    assert said in failed(voile, home)
    with pytest.raises(TamperedError):
        check_seal(release, SECRET)


@pytest.mark.usefixtures("key")
def test_of_other_bytes_nothing_is_counted(voile: Voile, home: Home) -> None:
    home.out.write_bytes(home.out.read_bytes() + b"\n")
    found = states(voile, home)
    assert {says for says, ok in found.items() if ok is False} == {
        "the bytes are those that the manifest names",
        "the release is as seal.json has it",
        "the release is as evidence-seal.json has it",
    }
    assert not any("certified" in says for says in found)


@pytest.mark.usefixtures("key")
def test_evidence_that_was_edited(voile: Voile, home: Home) -> None:
    home.evidence.write_bytes(b"{}")
    assert failed(voile, home) == {"evidence.json is as evidence-seal.json has it"}


@pytest.mark.usefixtures("key")
def test_a_file_of_the_private_folder_that_is_gone(voile: Voile, home: Home) -> None:
    (home.folder / "control.parquet").unlink()
    assert failed(voile, home) == {"control.parquet is as seal.json has it", READ}


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize("mode", [0o701, 0o710, 0o704, 0o740])
def test_a_private_folder_that_others_can_read(voile: Voile, home: Home, mode: int) -> None:
    home.folder.chmod(mode)
    assert failed(voile, home) == {PRIVATE}


@pytest.mark.usefixtures("key")
def test_a_seal_that_is_gone_or_not_as_it_was_written(voile: Voile, home: Home) -> None:
    whole = Seal.read(home.folder / SEAL)
    for name in (RELEASE, MANIFEST, "manifest.json"):
        less = {file: sha256 for file, sha256 in whole.files.items() if file != name}
        (home.folder / SEAL).write_bytes(Seal(less).under(SECRET).to_bytes())
        assert failed(voile, home) >= {"seal.json names the files of a release"}
    (home.folder / SEAL).write_bytes(whole.to_bytes() + b"\n")
    assert "seal.json names the files of a release" in failed(voile, home)
    (home.folder / SEAL).unlink()
    assert "seal.json names the files of a release" in failed(voile, home)


def test_a_seal_need_name_no_more_than_the_release_and_its_manifests(home: Home) -> None:
    whole = Seal.read(home.folder / SEAL)
    least = {name: whole.files[name] for name in (RELEASE, MANIFEST, "manifest.json")}
    (home.folder / SEAL).write_bytes(Seal(least).under(SECRET).to_bytes())
    check_seal(Release.open(home.out), SECRET)


def test_a_release_says_whether_it_was_sealed_under_a_secret(home: Home) -> None:
    assert is_keyed(Release.open(home.out))
    home.seal(None)
    assert not is_keyed(Release.open(home.out))
    (home.folder / SEAL).unlink()
    assert not is_keyed(Release.open(home.out))


def test_rows_are_counted_only_where_it_is_known_how_many_were_released(home: Home) -> None:
    def counted() -> list[bool | None]:
        return [check.holds for check in has_rows(Release.open(home.out), open_source(home.out))]

    assert counted() == [True]
    of_counts(released=3)(home)
    assert counted() == [False]
    home.folder.rename(home.out.parent / "kept")
    assert counted() == []


def test_a_seal_is_as_written_so_that_others_can_check_it(home: Home) -> None:
    """By hashlib, hmac and json alone."""
    seal = json.loads((home.folder / SEAL).read_bytes())
    assert (seal["format"], seal["version"]) == ("voile-seal", 1)
    places = {"release": home.out, "manifest": manifest_path(home.out)}
    places |= {path.name: path for path in home.folder.iterdir() if "evidence" not in path.name}
    del places[SEAL]
    files = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in places.items()}
    assert seal["files"] == files
    own = hmac.digest(KEY.encode(), b"voile seal", "sha256")
    said = json.dumps(files, indent=1, sort_keys=True).encode()
    assert seal["mac"] == hmac.digest(own, said, "sha256").hex()


@pytest.mark.usefixtures("key")
def test_what_was_planted_in_the_private_folder(voile: Voile, home: Home) -> None:
    (home.folder / "notes.txt").write_text("mine")
    said = "notes.txt was written into the private folder by apply or attack"
    assert states(voile, home)[said] is None
    (home.folder / EVIDENCE_SEAL).unlink()
    said = "evidence.json was written into the private folder by apply or attack"
    assert failed(voile, home) == {said}


def test_who_has_no_secret_is_told_what_it_would_take(
    voile: Voile, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VOILE_SECRET", raising=False)
    found = states(voile, home)
    assert False not in found.values()
    said = "seal.json was made under a secret: give it by --key-file or VOILE_SECRET"
    assert found[said] is None
    home.seal(None)
    said = "seal.json was made without a secret: who can write the private folder can forge it"
    assert states(voile, home)[said] is None
    monkeypatch.setenv("VOILE_SECRET", KEY)
    under = {f"{name} was made under this secret" for name in (SEAL, EVIDENCE_SEAL)}
    assert failed(voile, home) == under
    home.seal(OTHER)
    assert failed(voile, home) == under


def test_a_recipient_is_told_that_only_the_private_folder_could_say(
    voile: Voile, home: Home, tmp_path: Path
) -> None:
    home.folder.rename(tmp_path / "kept")
    found = states(voile, home)
    assert False not in found.values()
    [first] = [says for says, ok in found.items() if ok is None and "private folder" in says]
    assert first.startswith("the manifest is as apply wrote it")
    assert found["the columns are those of the manifest"] is True
    assert not any("seal" in says for says in found)
    release = Release.open(home.out)
    check_seal(release, None)
    check_evidence(release, tmp_path / "kept" / "evidence.json", None)
    assert not home.folder.exists()
    seal_evidence(release, tmp_path / "kept" / "evidence.json", None)
    assert not home.folder.exists()
    home.out.write_bytes(home.out.read_bytes() + b"\n")
    with pytest.raises(TamperedError, match="not those its manifest names"):
        check_seal(release, None)


Change = Callable[[Home], None]


def of_counts(**changes: Any) -> Change:
    return lambda home: home.edit(home.hidden, lambda data: data["counts"].update(changes))


def of_figures(**changes: Any) -> Change:
    def change(home: Home) -> None:
        home.edit(manifest_path(home.out), lambda data: data["figures"].update(changes))

    return change


def of_exact(**changes: Any) -> Change:
    return lambda home: home.edit(home.hidden, lambda data: data["figures"].update(changes))


def of_columns(*columns: dict[str, str]) -> Change:
    return lambda home: home.edit(
        manifest_path(home.out), lambda data: data.update(columns=list(columns))
    )


def aside(*lines: tuple[str, str, str]) -> Change:
    return lambda home: write_aside(home, list(lines))


def one_row_more(name: str) -> Change:
    def change(home: Home) -> None:
        rows = pq.read_table(home.folder / name)["row"].to_pylist()
        pq.write_table(pa.table({"row": [*rows, 9]}), home.folder / name)

    return change


NOTED = "set-aside.csv has every row set aside, and why"
HAS_ROLES = "the columns have the roles that the source's had"
HAS_COLUMNS = "the columns are those of the manifest"
RELEASED = "rows.parquet has a row for each row released"
HELD_OUT = "control.parquet has a row for each row held out"
UNREAD = {f"{name} is as certified" for name in ("documents", "characters", "marks")}
FORGED: list[tuple[Change, set[str]]] = [
    (of_counts(read=8), {ACCOUNT}),
    (of_counts(read=6), {ACCOUNT}),
    (of_counts(suppressed=3), {ACCOUNT}),
    (of_counts(read=8, released=3), {RELEASED}),
    (of_counts(read=8, held_out=2), {HELD_OUT}),
    (of_counts(read=8, set_aside=3), {NOTED}),
    (of_counts(set_aside_by=COUNTS["set_aside_by"][1:]), {NOTED}),
    (one_row_more("rows.parquet"), {RELEASED}),
    (one_row_more("control.parquet"), {HELD_OUT}),
    (aside(*ASIDE[1:]), {NOTED}),
    (aside(*ASIDE, ("5", "note", "no text")), {NOTED}),
    (aside(*ASIDE[:2], ("3", "", "another reason")), {NOTED}),
    (aside(*ASIDE[:2], ("5", "", "too long")), {NOTED}),
    (of_figures(loss=0.12), set()),  # rounded the other way
    (of_figures(loss=0.11), {TOLD}),
    (of_figures(loss=0.1234), {TOLD}),
    (of_figures(unknown=0.1), {TOLD}),
    (of_figures(loss=0.14, documents=3.0), {TOLD}),
    (of_exact(marks=2.0), {"marks is as certified"}),
    (of_exact(rows=2.0 + 1e-6), {"rows is as certified"}),
    (of_columns({**COLUMNS[0], "role": "keep"}, *COLUMNS[1:]), {HAS_ROLES, *UNREAD}),
    (of_columns(COLUMNS[0], {**COLUMNS[1], "role": "keep"}, COLUMNS[2]), {HAS_ROLES}),
    (of_columns(*COLUMNS[:2], {**COLUMNS[2], "column": "other"}), {HAS_COLUMNS}),
    (of_columns(*COLUMNS[::-1]), {HAS_COLUMNS}),
    (of_columns({**COLUMNS[0], "column": "other"}, *COLUMNS[1:]), {HAS_COLUMNS}),
    (of_columns(*COLUMNS[:2], {"column": "made here"}), {READ}),
]


@pytest.mark.parametrize("number", range(len(FORGED)))
def test_what_is_said_against_itself(voile: Voile, home: Home, number: int) -> None:
    """The forger can write the private folder, and makes every hash and seal anew."""
    change, said = FORGED[number]
    change(home)
    home.seal()
    assert failed(voile, home) == said


def test_evidence_that_attack_did_not_write_about_this_release(home: Home, tmp_path: Path) -> None:
    release = Release.open(home.out)
    check_evidence(release, home.evidence, SECRET)
    mine = tmp_path / "mine.json"
    mine.write_bytes(encode({"format": EVIDENCE_FORMAT, "found": 0}))
    with pytest.raises(TamperedError, match="attack wrote it about this release"):
        check_evidence(release, mine, SECRET)
    seal_evidence(release, mine, SECRET)
    check_evidence(release, mine, SECRET)
    check_evidence(release, home.evidence, SECRET)  # both are sealed
    with pytest.raises(TamperedError, match="made under this secret"):
        check_evidence(release, mine, OTHER)


def test_what_a_forger_sealed_is_not_sealed_again(home: Home, tmp_path: Path) -> None:
    forged, mine = home.folder / "forged.json", home.folder / "mine.json"
    for path in (forged, mine):
        path.write_bytes(encode({"format": EVIDENCE_FORMAT, "path": path.name}))
    release = Release.open(home.out)
    seal_evidence(release, forged, OTHER)
    seal_evidence(release, mine, SECRET)
    assert Seal.read(home.folder / EVIDENCE_SEAL).files.keys() == {RELEASE, "mine.json"}


def test_without_a_secret_all_evidence_stays_sealed(home: Home) -> None:
    mine = home.folder / "mine.json"
    mine.write_bytes(encode({"format": EVIDENCE_FORMAT}))
    home.seal(None)
    seal_evidence(Release.open(home.out), mine, None)
    for path in (mine, home.evidence):
        check_evidence(Release.open(home.out), path, None)


@pytest.mark.usefixtures("key")
def test_evidence_that_was_moved_elsewhere_is_not_checked(
    voile: Voile, home: Home, tmp_path: Path
) -> None:
    (tmp_path / "away").mkdir()
    away = tmp_path / "away" / "found.json"
    away.write_bytes(encode({"format": EVIDENCE_FORMAT}))
    seal_evidence(Release.open(home.out), away, SECRET)
    said = "../away/found.json is as evidence-seal.json has it"
    assert states(voile, home)[said] is True
    before = away.read_bytes()
    away.write_bytes(b"{}")
    assert states(voile, home)[said] is False
    away.unlink()
    assert states(voile, home)[said] is None
    away.write_bytes(before)
    assert states(voile, home)[said] is True
