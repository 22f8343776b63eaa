"""Files that voile writes and reads again, for damaging: roles, kits, policies, releases, FHIR."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pq
from tests.contracts.conftest import Case
from tests.hostile.mutating import damaged, damaged_json, damaged_table, damaged_toml
from tests.hostile.sources import PEOPLE, written
from tests.signals.fhir import made

from voile.core.progress import silent
from voile.data import open_source
from voile.data.fhir.reading_fields import read_fields
from voile.data.files.outputs import KIT_INDEX
from voile.data.files.own_files import fitting
from voile.data.postgres.release import _address
from voile.data.released_table import TablePointer
from voile.data.roles import Roles
from voile.data.source import hash_rows
from voile.modules import MODULES
from voile.release.choice import Chosen
from voile.release.evidence import default_place, read_evidence, write_evidence
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
from voile.release.verify import checks
from voile.report import render
from voile.signals.fhir.files import encode

Damage = Callable[[bytes, random.Random], bytes]
BY_SUFFIX: dict[str, Damage] = {
    ".json": damaged_json,
    ".toml": damaged_toml,
    ".table": damaged_toml,
    ".postgresql": damaged_toml,
}
HOW = "how.toml"


@dataclass(frozen=True)
class Files:
    """Files in a folder, of which one is damaged at a time."""

    write: Callable[[Path], None]
    use: Callable[[Path], None]
    names: tuple[str, ...] = ()
    cases: int = 12

    def make(self, folder: Path) -> None:
        self.write(folder)

    def copy(self, folder: Path, scratch: Path) -> None:
        shutil.copytree(folder, scratch, dirs_exist_ok=True)

    def damage(self, folder: Path, scratch: Path, rng: random.Random) -> None:
        self.copy(folder, scratch)
        files = sorted(p for p in scratch.rglob("*") if p.is_file())
        path = rng.choice([p for p in files if not self.names or p.name in self.names])
        path.write_bytes(BY_SUFFIX.get(path.suffix, damaged)(path.read_bytes(), rng))

    def read(self, scratch: Path) -> None:
        self.use(scratch)


@dataclass(frozen=True)
class Wing:
    """A wing's kit, policy, roles and release, of its tiny source in the contract tests."""

    kind: str

    @cached_property
    def case(self) -> Case:
        tiny = import_module(f"tests.contracts.{self.kind}")
        return Case(self.kind, tiny, Path(self._place.name))

    @cached_property
    def _place(self) -> TemporaryDirectory[str]:
        return TemporaryDirectory(prefix="hostile-")

    def write_kit(self, folder: Path) -> None:
        self.case.kit.save(folder / "kit")

    def use_kit(self, scratch: Path) -> None:
        kit = StoredKit.load(scratch / "kit", self.kind)
        chosen = self.case.middle(kit)
        self._report(kit)
        self.case.apply(scratch / "out.csv", kit=kit, chosen=chosen)

    def write_policy(self, folder: Path) -> None:
        (folder / HOW).write_text(self.case.middle().to_toml())

    def use_policy(self, scratch: Path) -> None:
        self.case.apply(scratch / "out.csv", chosen=Chosen.read(scratch / HOW))

    def write_roles(self, folder: Path) -> None:
        import tomli_w

        roles = self.case.tiny.roles().model_dump(exclude_none=True)
        (folder / HOW).write_text(tomli_w.dumps(roles))

    def use_roles(self, scratch: Path) -> None:
        case = self.case
        options = case.module.options.fit.model_validate(case.options["fit"])
        source = open_source(case.table)
        case.module.fit(source, Roles.read(scratch / HOW), options, seed=1, progress=silent)

    def write_release(self, folder: Path) -> None:
        release = self.case.apply(folder / "out.csv")
        write_evidence(default_place(release), release, self.case.attack(release), None, force=True)

    def use_release(self, scratch: Path) -> None:
        release = StoredRelease.open(scratch / "out.csv")
        for _ in checks(release, self.case.module.verify, None):
            pass
        place = default_place(release)
        found = read_evidence(place, release, None) if place.exists() else ()
        self._report(release, found)

    def use_public(self, scratch: Path) -> None:
        shutil.rmtree(scratch / "out.csv.private")
        self.use_release(scratch)

    def _report(self, shown: Any, found: Any = ()) -> None:
        with fitting("what is reported"):  # as `voile report` does
            sections = self.case.module.report(shown, found, audience="public")
            render("it", sections, audience="public", facts={})


@dataclass(frozen=True)
class Hashed(Files):
    """A kit whose tables are damaged too, the hashes of the index made right again."""

    def damage(self, folder: Path, scratch: Path, rng: random.Random) -> None:
        if rng.randrange(3) == 0:
            self.copy(folder, scratch)
            path = scratch / "kit" / KIT_INDEX
            path.write_bytes(damaged_json(path.read_bytes(), rng))
            return
        self.copy(folder, scratch)
        path = rng.choice(sorted((scratch / "kit").glob("*.parquet")))
        if rng.randrange(4) == 0:
            path.write_bytes(damaged(path.read_bytes(), rng))
        else:
            table = damaged_table(pq.read_table(path), rng)
            pq.write_table(table, path, use_dictionary=False)
        index = json.loads((scratch / "kit" / KIT_INDEX).read_bytes())
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        index["tables"][path.stem]["sha256"] = digest
        (scratch / "kit" / KIT_INDEX).write_text(json.dumps(index))


def _write_pointer(folder: Path) -> None:
    parts = 'database = "service=county"\ntable = "clinic.people"\nsha256 = "00"\n'
    (folder / "people.postgresql").write_text(parts)


def _write_table(folder: Path) -> None:
    path = folder / "people.duckdb"
    written(PEOPLE)(path)
    source, name = open_source(path), "release"
    digest = hash_rows(source.schema(), source.batches())
    TablePointer(path.name, name, digest).write(folder / f"people.duckdb.{name}.table")


def _use_table(scratch: Path) -> None:
    (path,) = scratch.glob("*.table")
    for _ in open_source(path).batches():
        pass


def _write_observations(folder: Path) -> None:
    lines = [made.observation("170.0", made.FIELDS[0]), made.observation("71.5", made.FIELDS[1])]
    lines += [made.panel("170.0", "71.5")]
    (folder / "readings.ndjson").write_text("".join(f"{line}\n" for line in lines))


def _write_fields(folder: Path) -> None:
    text = '[{}]\ncode = "{}"\nunit = "{}"\ndecimals = 1\n'
    fields = [text.format(f.column, f.code, f.unit) for f in made.FIELDS]
    (folder / "fields.toml").write_text("".join(fields))


def _encode(scratch: Path) -> None:
    encode(scratch / "readings.ndjson", scratch / "out.ndjson", made.scheme(), made.FIELDS)


def _of(wing: Wing) -> dict[str, Files]:
    manifest, private = "out.csv.manifest.json", "manifest.json"
    release = (manifest, private, "evidence.json", "rows.parquet", "seal.json")
    return {
        f"kit of {wing.kind}": Hashed(wing.write_kit, wing.use_kit),
        f"policy of {wing.kind}": Files(wing.write_policy, wing.use_policy),
        f"roles of {wing.kind}": Files(wing.write_roles, wing.use_roles, cases=5),
        f"release of {wing.kind}": Files(wing.write_release, wing.use_release, release),
        f"manifest of {wing.kind}": Files(wing.write_release, wing.use_public, (manifest,)),
    }


OWN: dict[str, Files] = {
    **{name: files for kind in MODULES for name, files in _of(Wing(kind)).items()},
    "postgresql": Files(
        _write_pointer,
        lambda scratch: str(_address(TablePointer.read_file(scratch / "people.postgresql"))),
    ),
    "released table": Files(_write_table, _use_table, ("people.duckdb.release.table",), cases=30),
    "observations": Files(_write_observations, _encode, cases=30),
    "fields": Files(
        _write_fields,
        lambda scratch: read_fields(scratch / "fields.toml", [f.column for f in made.FIELDS]),
    ),
}
