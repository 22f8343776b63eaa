"""Test that every change of a release, its manifests, its private folder or evidence is noticed.

The forger changes one thing at a time. She changes every field of every JSON file in several ways,
and bytes and rows of every file. She also replaces whole files and folders by those of another
release. If she cannot write the private folder, every change is noticed. If she can, it is noticed
when the release was sealed under a secret.
"""

from __future__ import annotations

import copy
import json
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.contracts.conftest import Case
from tests.contracts.conftest import case as case
from tests.hostile.cases import cases

from voile.cli.run import run
from voile.core.errors import VoileError
from voile.keys.seal import EVIDENCE_SEAL, SEAL, FileSeal, file_sha256
from voile.keys.secret import Secret
from voile.release.evidence import write_evidence
from voile.release.manifest import APPLIED, ROWS, StoredRelease, encode, manifest_path, private_path
from voile.release.verify import check_seals, evidence_sealed

KEY = "a secret that the forger has not: 0123456789abcdef"
SECRET = Secret(KEY.encode())
Edit = tuple[str, Any]


def sealed_release(case: Case, out: Path, **options: Any) -> Path:
    release = case.apply(out, **options)
    write_evidence(
        release.folder / "evidence.json", release, case.attack(release), SECRET, force=False
    )
    return out


@dataclass(frozen=True)
class Home:
    """A release with its private folder and evidence, and another of the same kit."""

    release: Path
    other: Path

    @property
    def files(self) -> list[Path]:
        folder = private_path(self.release)
        return [self.release, manifest_path(self.release), *sorted(folder.iterdir())]


@pytest.fixture(scope="module", autouse=True)
def key() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VOILE_SECRET", KEY)
        yield


@pytest.fixture(scope="module")
def home(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Home:
    folder = tmp_path_factory.mktemp(case.kind)
    other = sealed_release(case, folder / "other.csv", keep_order=True)
    return Home(sealed_release(case, folder / "release.csv"), other)


@contextmanager
def holding(path: Path, data: bytes) -> Iterator[None]:
    """Put other bytes into a file for a while."""
    before = path.read_bytes()
    path.write_bytes(data)
    try:
        yield
    finally:
        path.write_bytes(before)


def is_noticed(place: Path, secret: Secret | None = SECRET) -> bool:
    """Say whether the seals alone, the first that `voile verify` looks at, show a change."""
    try:
        release = StoredRelease.open(place)
        release.check_hash()
        checks = [*check_seals(release, secret), *evidence_sealed(release, secret)]
    except VoileError:
        return True
    return any(holds is False for _, holds in checks)


def verify(place: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    code = run(["verify", str(place)])
    said = capsys.readouterr()
    assert "unexpected" not in said.err
    return code, said.out + said.err


def edits(data: Any) -> Iterator[Edit]:
    """Change one thing of plain data, in every way and at every place."""
    yield from _here(data)
    inside = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for key, value in inside:
        for says, changed in edits(value):
            whole = copy.copy(data)
            whole[key] = changed
            yield f"{key} / {says}", whole


def _here(data: Any) -> Iterator[Edit]:
    match data:
        case bool():
            yield "negated", not data
        case int():
            yield from (("one more", data + 1), ("none", 0 if data else 9))
        case float():
            yield from (("a hundredth off", data * 0.99 + 1e-6), ("nearly none", 1e-9))
        case str():
            yield from (("longer", f"{data}x"), ("empty", "" if data else " "))
        case None:
            yield "a number", 0
        case dict():
            for key in data:
                yield f"without {key}", {k: v for k, v in data.items() if k != key}
            yield "with more", {**data, "more": 1}
        case list():
            yield from [("without the first", data[1:])] * bool(data)
            yield "longer", [*data, data[-1] if data else 0]
            yield from [("backwards", data[::-1])] * (data != data[::-1])


def of_json(home: Home) -> list[tuple[Path, str, Any]]:
    """Return each way of changing one thing of one JSON file; of huge ones, some."""
    found = []
    for path in (path for path in home.files if path.suffix == ".json"):
        every = list(edits(json.loads(path.read_bytes())))
        draw = random.Random(5)
        some = draw.sample(every, min(len(every), cases(150)))
        found += [(path, says, data) for says, data in some]
    return found


def of_bytes(path: Path) -> Iterator[tuple[str, bytes]]:
    data = path.read_bytes()
    for at in {0, len(data) // 2, len(data) - 1} & set(range(len(data))):
        yield f"byte {at} flipped", data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
    yield from (
        ("one byte more", data + b"\n"),
        ("cut short", data[: len(data) // 2]),
        ("empty", b""),
    )


def test_the_release_is_as_it_was_written(home: Home, capsys: Any) -> None:
    code, said = verify(home.release, capsys)
    assert code == 0, said
    assert "FAILED" not in said


def test_every_field_that_changes_is_noticed(home: Home) -> None:
    tried = of_json(home)
    unseen = [
        (path.name, says) for path, says, data in tried if not _seen(home, path, encode(data))
    ]
    assert unseen == []
    assert len(tried) >= 40
    assert len({path for path, *_ in tried}) == 5


def _seen(home: Home, path: Path, data: bytes) -> bool:
    with holding(path, data):
        return is_noticed(home.release)


def test_verify_fails_on_some_of_each_and_says_so_in_words(home: Home, capsys: Any) -> None:
    tried = of_json(home)
    for path, says, data in random.Random(7).sample(tried, cases(8)):
        with holding(path, encode(data)):
            code, _ = verify(home.release, capsys)
        assert code in (1, 2), (path.name, says)


def test_every_byte_that_changes_and_every_file_that_goes_is_noticed(home: Home) -> None:
    for path in home.files:
        for says, data in of_bytes(path):
            if data == path.read_bytes():
                continue
            with holding(path, data):
                assert is_noticed(home.release), (path.name, says)
        if path != home.release:
            path.rename(path.with_suffix(".away"))
            assert is_noticed(home.release), path.name
            path.with_suffix(".away").rename(path)
    assert not is_noticed(home.release)


def test_a_private_folder_that_lost_files_is_no_received_release(home: Home) -> None:
    """Who takes files away leaves nothing to hold the forged manifest to: that is noticed."""
    folder = private_path(home.release)
    public = json.loads(manifest_path(home.release).read_bytes())
    with holding(manifest_path(home.release), encode({**public, "figures": {}})):
        for left in APPLIED:
            for path in (folder / name for name in APPLIED if name != left):
                path.rename(path.with_name(f"{path.name}.away"))
            assert is_noticed(home.release), left
            for path in folder.glob("*.away"):
                path.rename(path.with_suffix(""))
    assert not is_noticed(home.release)


def test_files_and_folders_of_another_release_are_noticed(home: Home) -> None:
    ours, theirs = private_path(home.release), private_path(home.other)
    for mine, other in (
        *((ours / path.name, path) for path in sorted(theirs.iterdir())),
        (home.release, home.other),
        (manifest_path(home.release), manifest_path(home.other)),
    ):
        if mine.read_bytes() != other.read_bytes():
            assert _seen(home, mine, other.read_bytes()), mine.name
    away = ours.with_name("away")
    ours.rename(away)
    shutil.copytree(theirs, ours)
    ours.chmod(0o700)
    assert is_noticed(home.release)
    shutil.rmtree(ours)
    away.rename(ours)


def swapped(home: Home) -> bytes:
    """Swap two released rows that differ."""
    head, *rows = home.release.read_bytes().splitlines(keepends=True)
    at = next(x for x, row in enumerate(rows) if row != rows[0])
    rows[0], rows[at] = rows[at], rows[0]
    return b"".join([head, *rows])


def test_rows_that_change_places_are_noticed_with_both_hashes_redone(home: Home) -> None:
    manifests = (manifest_path(home.release), private_path(home.release) / "manifest.json")
    with holding(home.release, swapped(home)):
        redone = [
            encode({**json.loads(path.read_bytes()), "sha256": file_sha256(home.release)})
            for path in manifests
        ]
        with holding(manifests[0], redone[0]), holding(manifests[1], redone[1]):
            assert is_noticed(home.release)


def test_people_who_change_places_are_noticed(home: Home, tmp_path: Path) -> None:
    path = private_path(home.release) / ROWS
    table = pq.read_table(path)
    backwards = table.take(list(range(len(table)))[::-1])
    pq.write_table(backwards, tmp_path / ROWS)
    assert _seen(home, path, (tmp_path / ROWS).read_bytes())


def test_who_forges_all_of_it_lacks_the_secret(home: Home) -> None:
    """Each seal is made anew over what was forged; only the secret is not at hand."""
    folder = private_path(home.release)
    public = json.loads(manifest_path(home.release).read_bytes())
    forged = encode({**public, "figures": {}})
    with holding(manifest_path(home.release), forged):
        seal = FileSeal.read_file(folder / SEAL)
        files = {**seal.files, "manifest": file_sha256(manifest_path(home.release))}
        for mac in (None, seal.mac, FileSeal(files).under(Secret(b"x" * 32)).mac):
            with holding(folder / SEAL, FileSeal(files, mac).to_bytes()):
                assert is_noticed(home.release), mac
                said = [
                    holds for says, holds in check_seals(StoredRelease.open(home.release), None)
                ]
                assert None in said
                assert False not in said


def test_evidence_of_no_success_is_not_published(home: Home, tmp_path: Path, capsys: Any) -> None:
    path = private_path(home.release) / "evidence.json"
    data = json.loads(path.read_bytes())
    for one in data["evidence"]:
        for finding in one["findings"]:
            finding["rate"]["successes"] = 0
    page = tmp_path / "report.html"
    assert run(["report", str(home.release), "--out", str(page)]) == 0
    page.unlink()
    with holding(path, json.dumps(data).encode()):
        assert verify(home.release, capsys)[0] == 1
        assert run(["report", str(home.release), "--out", str(page)]) == 1
        (tmp_path / "mine.json").write_bytes(path.read_bytes())
    mine = ["--evidence", str(tmp_path / "mine.json")]
    assert run(["report", str(home.release), "--out", str(page), *mine]) == 1
    (private_path(home.release) / EVIDENCE_SEAL).rename(tmp_path / "seal")
    assert run(["report", str(home.release), "--out", str(page)]) == 1
    (tmp_path / "seal").rename(private_path(home.release) / EVIDENCE_SEAL)
    assert not page.exists()


@pytest.fixture(scope="module")
def received(home: Home, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a recipient has: the release and its manifest."""
    folder = tmp_path_factory.mktemp("received")
    for path in (home.release, manifest_path(home.release)):
        shutil.copy(path, folder / path.name)
    return folder / home.release.name


def test_a_recipient_is_told_what_she_cannot_check(received: Path, capsys: Any) -> None:
    code, said = verify(received, capsys)
    assert code == 1, said
    assert "not checked the seal, and every figure about people" in said
    assert "FAILED" not in said


def test_a_recipient_notices_another_release_kind_or_column(received: Path, capsys: Any) -> None:
    public = json.loads(manifest_path(received).read_bytes())
    columns = public["columns"]
    other = "signals" if public["kind"] != "signals" else "tables"
    forged: dict[str, Callable[[], dict[str, Any]]] = {
        "hash": lambda: {**public, "sha256": "0" * 64},
        "kind": lambda: {**public, "kind": other},
        "columns": lambda: {**public, "columns": columns[1:]},
        "order": lambda: {**public, "columns": columns[::-1]},
    }
    for says, make in forged.items():
        with holding(manifest_path(received), encode(make())):
            assert verify(received, capsys)[0] == 1, says


def test_no_forged_manifest_ends_in_an_error_of_ours(received: Path, capsys: Any) -> None:
    public = json.loads(manifest_path(received).read_bytes())
    every = list(edits(public))
    for says, data in random.Random(11).sample(every, min(len(every), cases(20))):
        with holding(manifest_path(received), encode(data)):
            code, said = verify(received, capsys)
        assert code in (0, 1, 2), (says, said)
