"""What holds of S3 holds of the other stores: read, publish, verify, and refuse in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tomli_w
from tests.data.stores.google import CANARY
from tests.data.stores.others import KEY, SECRET, Store, azure, google

import voile.tables
from voile.cli.run import run
from voile.core.errors import VoileError
from voile.data import open_source
from voile.data.stores.path import StorePath
from voile.data.stores.systems import file_system
from voile.data.stores.upload import upload
from voile.opening import open_release

CSV = b"zip,age\n00501,1\n00544,2\n"
ROWS = pa.table(
    {
        "person": [f"CANARYPERSON{i}" for i in range(400)],
        "age": [20 + i * 7 % 40 for i in range(400)],
        "ward": [i % 4 for i in range(400)],
    }
)
ROLES = {
    "subject": "person",
    "columns": {"age": "quasi", "ward": "keep", "person": "identifier"},
}
NAMES = ["2024/visits.parquet", "2024/visits.parquet.manifest.json"]


@pytest.fixture(scope="module", params=[google, azure], ids=["gs", "abfs"])
def server(request: pytest.FixtureRequest) -> Iterator[Store]:
    with request.param() as store:
        yield store


@pytest.fixture
def store(server: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The store, and a working folder."""
    monkeypatch.chdir(tmp_path)
    with server.found(monkeypatch):
        yield server


@pytest.fixture(scope="module")
def kit() -> Any:
    return voile.tables.fit(ROWS, roles=ROLES, k=5, seed=1, method="steepest")


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    place = tmp_path_factory.mktemp("parquet") / "v.parquet"
    pq.write_table(ROWS, place, row_group_size=150)
    return place.read_bytes()


def apply(kit: Any, to: str, *, force: bool = False) -> Any:
    return kit.apply(kit.choose(policy=1), ROWS, to, no_pseudonyms=True, force=force)


def failed(address: str) -> list[str]:
    return [check.says for check in open_release(address).verify() if check.holds is False]


def refusal(thing: str) -> str:
    with pytest.raises(VoileError) as caught:
        open_source(thing).read()
    said = str(caught.value)
    assert caught.value.exit_code == 2
    assert not any(word in said for word in (SECRET, KEY, CANARY))
    return said


def test_files_and_folders(store: Store, parquet: bytes, tmp_path: Path) -> None:
    for name in ("v.parquet", "a b/é 100%20+?.parquet"):
        source = open_source(store.put(name, parquet))
        assert source.name == name.rpartition("/")[2]
        assert source.read(["age"]).equals(ROWS.select(["age"]))
        assert source.about_rows() == 400
    (tmp_path / "v.csv").write_bytes(CSV)
    here, there = open_source(tmp_path / "v.csv"), open_source(store.put("v.csv", CSV))
    assert there.read().equals(here.read())
    assert there.fingerprint() == here.fingerprint()
    for year in (2023, 2024):
        store.put(f"visits/year={year}/0.parquet", parquet)
    folder = open_source(f"{store.address}/visits/")
    assert folder.folder_columns() == {"year"}
    assert folder.read().num_rows == 800
    store.put("visits/year=2025/0.parquet", parquet)
    with pytest.raises(VoileError, match="changed while voile read"):
        folder.read()


def test_from_a_source_there_to_a_release_there(
    store: Store, parquet: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    source = store.put("source/0.parquet", parquet).rpartition("/")[0]
    Path("roles.toml").write_text(tomli_w.dumps(ROLES))
    assert run(["inspect", source, "--quiet"]) == 0
    fit = ["tables", "fit", source, "--roles", "roles.toml", "--k", "5", "--out", "kit"]
    assert run([*fit, "--method", "steepest", "--seed", "1"]) == 0
    assert run(["tables", "choose", "kit", "--policy", "1", "--out", "policy.toml"]) == 0
    to = f"{store.address}/{NAMES[0]}"
    words = ["tables", "apply", "kit", source, "--out", to, "--policy", "policy.toml"]
    assert run([*words, "--no-pseudonyms"]) == 0
    assert [one for one in store.objects() if "2024" in one] == NAMES
    assert run(["verify", to]) == 0
    assert run(["tables", "attack", to, "--original", source, "--register", source]) == 0
    assert run(["report", to, "--out", "page.html"]) == 0
    capsys.readouterr()
    assert run([*words, "--no-pseudonyms"]) == 2
    assert "the output exists already; replace it with --force" in capsys.readouterr().err
    assert run([*words, "--no-pseudonyms", "--force"]) == 0
    for held in (*(store.read(one) for one in NAMES), Path("page.html").read_bytes()):
        assert not any(word.encode() in held for word in (SECRET, KEY, "CANARYPERSON"))


def test_the_manifest_is_sent_last(store: Store, kit: Any) -> None:
    before = len(store.log.read_text())
    apply(kit, f"{store.address}/{NAMES[0]}")
    asked = store.log.read_text()[before:].splitlines()
    sent = ["manifest" in one for one in asked if "PUT " in one]
    assert sent == sorted(sent)
    assert {*sent} == {False, True}


def test_what_was_changed_there_is_noticed(store: Store, kit: Any) -> None:
    to = f"{store.address}/{NAMES[0]}"
    apply(kit, to)
    assert failed(to) == []
    store.put(NAMES[0], store.read(NAMES[0])[:-1] + b"x")
    assert "visits.parquet is the part that the manifest names" in failed(to)
    store.files.delete_file(f"clinic/{NAMES[1]}")
    with pytest.raises(VoileError, match="the release has no manifest next to it"):
        open_release(to)
    with pytest.raises(VoileError, match="is not a release that voile wrote"):
        apply(kit, to, force=True)


def test_what_is_not_there(store: Store) -> None:
    assert (
        refusal(f"{store.address}/n.csv")
        == f"{store.address}/n.csv: the file does not exist; correct the address"
    )
    nowhere = f"{store.scheme}://nowhere"
    assert (
        refusal(f"{nowhere}/n.csv")
        == f"{nowhere}: the bucket does not exist; correct the bucket's name"
    )
    store.put("empty.csv", b"")
    assert (
        refusal(f"{store.address}/empty.csv")
        == "empty.csv: the file is empty; choose a file with rows"
    )


@pytest.mark.parametrize("name", ["v.csv", "v.parquet"])
def test_without_a_right_to_read(store: Store, name: str) -> None:
    address = store.put(name, CSV)
    store.deny("all")
    assert (
        refusal(address)
        == f"{address}: these credentials have no right to it; ask who runs the store"
    )


def test_without_a_right_to_write(store: Store, kit: Any, tmp_path: Path) -> None:
    to = f"{store.address}/{NAMES[0]}"
    store.deny("write")
    with pytest.raises(VoileError, match="these credentials have no right to it") as caught:
        apply(kit, to)
    assert not any(word in str(caught.value) for word in (SECRET, KEY, CANARY))
    assert store.objects() == []
    assert list(tmp_path.iterdir()) == []


def test_with_wrong_credentials(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    if store.scheme != "abfs":
        pytest.skip("the emulator asks for none")
    address = store.put("v.csv", CSV)
    monkeypatch.setenv("AZURE_STORAGE_KEY", "bm90IHRoZSBrZXk=")
    file_system.cache_clear()
    said = "the store does not accept the credentials; set new credentials"
    assert refusal(address) == f"{address}: {said}"


def test_a_server_that_is_not_there(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STORAGE_EMULATOR_HOST", "AZURE_STORAGE_ENDPOINT"):
        monkeypatch.setenv(name, "http://store.example")
    file_system.cache_clear()
    assert "the variable contains an unencrypted address" in refusal(f"{store.address}/v.csv")


def test_a_large_part_comes_whole_or_not_at_all(store: Store, tmp_path: Path) -> None:
    out, part, manifest = StorePath(store.scheme, "clinic/a.bin"), tmp_path / "a", tmp_path / "m"
    part.write_bytes(bytes(range(256)) * (9 << 12))
    manifest.write_text('{"format": "voile-release"}')
    journal = tmp_path / "journal"
    with pytest.raises(VoileError, match="changed while voile sent it"):
        upload(out, part, manifest, {"a.bin": "0" * 64}, journal, force=False)
    assert store.objects() == []
    sha256 = StorePath(store.scheme, "clinic/none").write([])  # an empty file's
    store.files.delete_file("clinic/none")
    assert sha256.startswith("e3b0c442")
    from voile.keys.seal import file_sha256

    upload(out, part, manifest, {"a.bin": file_sha256(part)}, journal, force=False)
    assert store.objects() == ["a.bin", "a.bin.manifest.json"]
    assert store.read("a.bin") == part.read_bytes()
    assert not journal.exists()
