"""Whoever is not released is in no public byte: not in a label, a dictionary, a report, a message.

Each row of the strangers has values that nobody else has. What became of it is read from the
private folder; what it alone has is then looked for in everything that may be given away.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.hostile.canaries import Strange, strange
from tests.hostile.public_bytes import files_of, holds, shown_by

from voile.errors import RequestError
from voile.io import open_source
from voile.io.writers import WRITERS
from voile.kit import Choice, Chosen, Kit
from voile.progress import silent
from voile.release import Release
from voile.report import render

FORMATS = (*WRITERS, ".duckdb")
SECRET = "a secret of the canary suite, long enough"


@dataclass(frozen=True)
class Flown:
    """What fit and choose made of a source with strangers."""

    case: Any
    source: Strange
    kit: Kit
    chosen: Chosen

    def apply(self, out: Path, **options: Any) -> Release:
        return self.case.apply(
            out, thing=self.source.applied, kit=self.kit, chosen=self.chosen, **options
        )


@pytest.fixture(scope="module")
def flown(case: Any) -> Flown:
    source = strange(case)
    options = case.wing.FitOptions.model_validate(source.fit)
    table = open_source(source.fitted)
    kit = case.wing.fit(table, source.roles, options, seed=3, progress=silent)
    numbers = range(kit.policies)
    chosen = [case.wing.choose(kit, Choice(policy=number)) for number in numbers]
    return Flown(case, source, kit, max(chosen, key=lambda c: c.figures.get("suppressed", 0)))


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOILE_SECRET", SECRET)


def rows_of(path: Path) -> set[int]:
    return {row for batch in open_source(path).batches(["row"]) for row in batch[0].to_pylist()}


def fates(release: Release) -> dict[str, set[int]]:
    """Return which rows of the source were released, held out, set aside and suppressed."""
    with (release.folder / "set-aside.csv").open(newline="", encoding="utf-8") as file:
        aside = {int(row["row"]) for row in csv.DictReader(file)}
    released, held = rows_of(release.folder / "rows.parquet"), rows_of(
        release.folder / "control.parquet"
    )
    every = set(range(release.private["counts"]["read"]))
    return {
        "released": released,
        "held out": held,
        "set aside": aside,
        "suppressed": every - released - held - aside,
    }


def hidden(flown: Flown, release: Release) -> list[Any]:
    """Return what the strangers alone have that were not released; some of each kind are there."""
    told = fates(release)
    gone = {name: rows & flown.source.marks.keys() for name, rows in told.items()}
    wanted = {"held out", "set aside"} | (
        {"suppressed"} if flown.case.kind in ("tables", "itemsets") else set()
    )
    assert not [name for name in wanted if not gone[name]], {n: len(r) for n, r in gone.items()}
    return list(flown.source.of(set(flown.source.marks) - told["released"]))


def leaks(folder: Path, values: list[Any]) -> Iterator[tuple[str, Any]]:
    for path in files_of(folder):
        for shown in shown_by(path):
            yield from ((path.name, value) for value in values if holds(shown, value))


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("keep_order", [False, True])
def test_no_public_byte_is_of_somebody_who_was_not_released(
    flown: Flown, tmp_path: Path, suffix: str, keep_order: bool
) -> None:
    try:
        release = flown.apply(tmp_path / f"r{suffix}", keep_order=keep_order)
    except RequestError:  # the wing does not write this format
        assert suffix in (".dat", ".svm", ".svmlight")
        return
    assert not list(leaks(tmp_path, hidden(flown, release)))


def test_no_public_report_is_of_somebody_who_was_not_released(
    flown: Flown, tmp_path: Path
) -> None:
    case, source = flown.case, flown.source
    release = flown.apply(tmp_path / "r.parquet")
    values = hidden(flown, release)
    options = {**case.options["attack"]}
    if case.kind == "tables":
        options = {"person": "person"}
    found = case.wing.attack(
        release,
        open_source(source.applied),
        case.wing.AttackOptions.model_validate(options),
        seed=1,
        progress=silent,
    )
    for name, subject, evidence in (
        ("kit", flown.kit, ()),
        ("release", release, found),
        ("received", Release(release.path, release.public), ()),
    ):
        sections = case.wing.sections(subject, evidence, audience="public")
        page = render(name, sections, audience="public", facts={})
        (tmp_path / f"{name}.html").write_text(page, encoding="utf-8")
    if flown.kit.visibility == "shareable":
        flown.kit.save(tmp_path / "kit")
    assert not list(leaks(tmp_path, values))
