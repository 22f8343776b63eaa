"""A release of two notes with all that lies beside it, and what `voile verify` says of it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.cli.conftest import Voile

from voile.data.files.outputs import EVIDENCE_FORMAT
from voile.keys.seal import EVIDENCE_SEAL, SEAL, FileSeal, file_sha256
from voile.keys.secret import Secret
from voile.release.manifest import (
    FORMAT,
    MANIFEST,
    RELEASE,
    StoredRelease,
    encode,
    manifest_path,
    private_path,
)
from voile.release.verify import UNSEALED, seal_evidence

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
        (self.folder / SEAL).write_bytes(FileSeal.of(named, self.folder, secret).to_bytes())
        self.evidence.write_bytes(encode({"format": EVIDENCE_FORMAT}))
        seal_evidence(StoredRelease.open(self.out), self.evidence, secret)


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


def states(voile: Voile, home: Home) -> dict[str, bool | None]:
    """Return what `voile verify` says of each check; its exit code says the same."""
    ran = voile("verify", home.out, "--json")
    found = {one["check"]: one["ok"] for one in ran.json["checks"]}
    whole = False not in found.values() and UNSEALED not in found
    assert ran.json["ok"] == whole == (ran.code == 0)
    assert ran.code in (0, 1)
    return found


def failed(voile: Voile, home: Home) -> set[str]:
    return {says for says, ok in states(voile, home).items() if ok is False}


Change = Callable[[Home], None]


def of_counts(**changes: Any) -> Change:
    return lambda home: home.edit(home.hidden, lambda data: data["counts"].update(changes))
