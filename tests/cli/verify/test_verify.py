"""Each thing that is changed of a release makes its own check fail, in words, and no other."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path

import pytest
from tests.cli.conftest import Voile
from tests.cli.verify.home import (
    ACCOUNT,
    EXACT,
    KEY,
    OTHER,
    PRIVATE,
    READ,
    SECRET,
    TOLD,
    Home,
    failed,
    of_counts,
    states,
)

from voile.core.errors import TamperedError
from voile.data import open_source
from voile.keys.seal import EVIDENCE_SEAL, SEAL, FileSeal
from voile.release.manifest import (
    MANIFEST,
    RELEASE,
    StoredRelease,
    manifest_path,
)
from voile.release.verify import (
    UNSEALED,
    check_evidence,
    check_seal,
    has_rows,
    is_keyed,
    seal_evidence,
)


@pytest.mark.usefixtures("key")
def test_all_that_can_be_checked_holds(voile: Voile, home: Home) -> None:
    found = states(voile, home)
    left = {says for says, ok in found.items() if ok is None}
    assert left == {"loss: not measured again: it takes the annotated text, or the source"}
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
    release, path = StoredRelease.open(home.out), home.out.parent / name
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
    whole = FileSeal.read_file(home.folder / SEAL)
    for name in (RELEASE, MANIFEST, "manifest.json"):
        less = {file: sha256 for file, sha256 in whole.files.items() if file != name}
        (home.folder / SEAL).write_bytes(FileSeal(less).under(SECRET).to_bytes())
        assert failed(voile, home) >= {"seal.json names the files of a release"}
    (home.folder / SEAL).write_bytes(whole.to_bytes() + b"\n")
    assert "seal.json names the files of a release" in failed(voile, home)
    (home.folder / SEAL).unlink()
    assert "seal.json names the files of a release" in failed(voile, home)


def test_a_seal_need_name_no_more_than_the_release_and_its_manifests(home: Home) -> None:
    whole = FileSeal.read_file(home.folder / SEAL)
    least = {name: whole.files[name] for name in (RELEASE, MANIFEST, "manifest.json")}
    (home.folder / SEAL).write_bytes(FileSeal(least).under(SECRET).to_bytes())
    check_seal(StoredRelease.open(home.out), SECRET)


def test_a_release_says_whether_it_was_sealed_under_a_secret(home: Home) -> None:
    assert is_keyed(StoredRelease.open(home.out))
    home.seal(None)
    assert not is_keyed(StoredRelease.open(home.out))
    (home.folder / SEAL).unlink()
    assert not is_keyed(StoredRelease.open(home.out))


def test_rows_are_counted_only_where_it_is_known_how_many_were_released(home: Home) -> None:
    def counted() -> list[bool | None]:
        return [
            check.holds for check in has_rows(StoredRelease.open(home.out), open_source(home.out))
        ]

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
    assert first == UNSEALED
    assert found["the columns are those of the manifest"] is True
    assert not any(f"{name} " in says for says in found for name in (SEAL, EVIDENCE_SEAL))
    release = StoredRelease.open(home.out)
    check_seal(release, None)
    check_evidence(release, tmp_path / "kept" / "evidence.json", None)
    assert not home.folder.exists()
    seal_evidence(release, tmp_path / "kept" / "evidence.json", None)
    assert not home.folder.exists()
    home.out.write_bytes(home.out.read_bytes() + b"\n")
    with pytest.raises(TamperedError, match="not those its manifest names"):
        check_seal(release, None)
