"""Test `--force` on outputs of signals: decoded readings, FHIR files, and channel folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.signals import clinic
from tests.signals.fhir.made import FIELDS, observation, scheme

from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.signals.channel.store import FILE, EndStore
from voile.signals.fhir.files import encode
from voile.signals.verbs.decode import decode

OURS = "back.csv"


@pytest.fixture(scope="module")
def writers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[..., Any]]:
    """Return what writes a file of readings, each by its name."""
    folder = tmp_path_factory.mktemp("sent")
    kit = clinic.fitted()
    release = clinic.applied(kit, folder / "sent.csv")
    source = folder / "days.ndjson"
    values = zip(("170.0", "80.0"), FIELDS, strict=True)
    lines = (observation(value, field) for value, field in values)
    source.write_text("\n".join(lines) + "\n")

    def decoded(out: Path, *, force: bool) -> None:
        from voile.data import open_source

        classes = open_source(release.folder / "classes.csv")
        chosen = clinic.strongest(kit)
        decode(kit, chosen, release, classes, out, force=force, progress=silent)

    def encoded(out: Path, *, force: bool) -> None:
        encode(source, out, scheme(), FIELDS, force=force)

    return {"decode": decoded, "encode-fhir": encoded}


@pytest.mark.parametrize("verb", ["decode", "encode-fhir"])
def test_readings_are_replaced_by_readings_alone(
    writers: dict[str, Callable[..., Any]], tmp_path: Path, verb: str
) -> None:
    write, out = writers[verb], tmp_path / OURS
    write(out, force=False)
    with pytest.raises(RequestError, match="the output exists already; replace it with --force"):
        write(out, force=False)
    write(out, force=True)
    assert out.read_bytes()
    manifest = tmp_path / f"{OURS}.manifest.json"
    for text in ("{}", "[]", '{"format": "voile-release"}', "notes"):
        manifest.write_text(text)
        with pytest.raises(RequestError, match="is not a file of readings that voile wrote"):
            write(out, force=True)
        assert (out.read_bytes() != b"", manifest.read_text()) == (True, text)
    manifest.unlink()
    with pytest.raises(RequestError, match="is not a file of readings that voile wrote"):
        write(out, force=True)


@pytest.mark.parametrize("end", ["send", "receive"])
def test_an_end_keeps_its_state_in_no_folder_of_others(tmp_path: Path, end: str) -> None:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    (folder / "readings.jsonl").write_text("a life's work")
    with pytest.raises(RequestError, match="holds other things than an end's state"):
        EndStore(folder, end=end, mark="m", tables="")
    assert [path.name for path in folder.iterdir()] == ["readings.jsonl"]
    own = tmp_path / "own"
    for _ in range(2):
        EndStore(own, end=end, mark="m", tables="").close()
    assert (own / FILE).exists()
