"""Test that no public byte contains a value of a person who is not released.

The public bytes include labels, dictionaries, reports and messages. Each row of the strangers has
values that nobody else has. The test reads the row's outcome from the private folder. It then
searches for the row's unique values in all files that may be published.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tomli_w
from tests.hostile.canaries import STRANGERS, Strange, strange
from tests.hostile.public_bytes import leaks

from voile.cli.run import run
from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.data.writing.writers import WRITERS
from voile.release.choice import Choice, Chosen
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
from voile.report import render

FORMATS = (*WRITERS, ".duckdb")
SECRET = "a secret of the canary suite, long enough"


@dataclass(frozen=True)
class Flown:
    """What fit and choose made of a source with strangers."""

    case: Any
    source: Strange
    kit: StoredKit
    chosen: Chosen

    def apply(self, out: Path, **options: Any) -> StoredRelease:
        return self.case.apply(
            out, thing=self.source.applied, kit=self.kit, chosen=self.chosen, **options
        )


@pytest.fixture(scope="module")
def flown(case: Any) -> Flown:
    return fly(case, strange(case))


def fly(case: Any, source: Strange) -> Flown:
    """Fit a source with strangers, and choose the policy that tells most of them."""
    options = case.module.options.fit.model_validate(source.fit)
    table = open_source(source.fitted)
    kit = case.module.fit(table, source.roles, options, seed=3, progress=silent)
    numbers = range(kit.policies)
    chosen = [case.module.choose(kit, Choice(policy=number)) for number in numbers]
    return Flown(case, source, kit, max(chosen, key=_telling))


def _telling(chosen: Chosen) -> tuple[float, float]:
    """Rank policies by what they suppress, then by what they keep."""
    return chosen.figures.get("suppressed", 0.0), -chosen.figures["loss"]


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOILE_SECRET", SECRET)


def rows_of(path: Path) -> set[int]:
    return {row for batch in open_source(path).batches(["row"]) for row in batch[0].to_pylist()}


def fates(release: StoredRelease) -> dict[str, set[int]]:
    """Return which rows of the source were released, held out, set aside and suppressed."""
    with (release.folder / "set-aside.csv").open(newline="", encoding="utf-8") as file:
        aside = {int(row["row"]) for row in csv.DictReader(file)}
    released, held = (
        rows_of(release.folder / "rows.parquet"),
        rows_of(release.folder / "control.parquet"),
    )
    every = set(range(release.private["counts"]["read"]))
    return {
        "released": released,
        "held out": held,
        "set aside": aside,
        "suppressed": every - released - held - aside,
    }


def hidden(flown: Flown, release: StoredRelease) -> list[Any]:
    """Return what the strangers alone have that were not released; some of each kind are there."""
    told = fates(release)
    gone = {name: rows & flown.source.marks.keys() for name, rows in told.items()}
    suppresses = flown.case.kind in ("tables", "itemsets") and "family" not in flown.source.fit
    wanted = {"held out", "set aside"} | ({"suppressed"} if suppresses else set())
    assert not [name for name in wanted if not gone[name]], {n: len(r) for n, r in gone.items()}
    return list(flown.source.of(set(flown.source.marks) - told["released"]))


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


def flags(options: dict[str, Any]) -> Iterator[str]:
    """Yield options as they are written on the command line."""
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            yield f"--{name.replace('_', '-')}"
            if one is not True:
                yield str(one)


def attacked_by(flown: Flown) -> dict[str, Any]:
    """Return an adversary's settings, without a register of other people's making."""
    tables = {"person": "person"}
    return tables if flown.case.kind == "tables" else flown.case.options["attack"]


def test_no_command_prints_and_no_report_shows_somebody_who_was_not_released(
    flown: Flown, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kind, source = flown.case.kind, flown.source
    roles, kit, policy = (tmp_path / name for name in ("roles.toml", "k.private", "p.private"))
    roles.write_text(tomli_w.dumps(source.roles.model_dump(mode="json", exclude_none=True)))
    given, truth = (tmp_path / name for name in ("given.private.parquet", "truth.private.parquet"))
    pq.write_table(source.fitted, given)
    pq.write_table(source.applied, truth)
    out = tmp_path / "out"
    out.mkdir()

    def voile(*words: object, code: int = 0) -> None:
        assert run([str(word) for word in words]) == code, capfd.readouterr().err

    voile(
        *(kind, "fit", given, "--roles", roles, *flags(source.fit), "--seed", 3, "--out", kit),
    )
    voile(kind, "frontier", kit)
    voile(kind, "choose", kit, "--policy", flown.chosen.number, "--out", policy)
    release = out / "r.parquet"
    voile(kind, "apply", kit, truth, "--policy", policy, "--out", release, code=1)  # rows set aside
    voile(kind, "attack", release, "--original", truth, *flags(attacked_by(flown)), "--seed", 1)
    voile("report", release, "--out", out / "release.html")
    voile("report", kit, "--out", out / "kit.html")
    voile("verify", release)
    (out / "said.txt").write_text("".join(capfd.readouterr()), encoding="utf-8")
    received = flown.case.module.report(
        StoredRelease(release, StoredRelease.open(release).public), (), audience="public"
    )
    page = render("received", received, audience="public", facts={})
    (out / "received.html").write_text(page, encoding="utf-8")
    if flown.kit.visibility == "shareable":
        StoredKit.load(kit).save(out / "kit")
    assert not list(leaks(out, hidden(flown, StoredRelease.open(release))))


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".duckdb"])
def test_nothing_lies_under_a_null_or_in_a_dictionary_inside_a_list(
    flown: Flown, tmp_path: Path, suffix: str
) -> None:
    whole, rows = flown.source.applied, flown.source.applied.num_rows
    bare = pa.array([1, 987_654_321] * (rows // 2 + 1), pa.int64())
    every_other = [pa.py_buffer(b"\x55" * rows), bare.buffers()[1]]
    words = pa.array(["zqlistx" if row in flown.source.marks else "a" for row in range(rows)])
    lists = pa.ListArray.from_arrays(
        pa.array(range(rows + 1), pa.int32()), words.dictionary_encode()
    )
    more = {"nothing": pa.Array.from_buffers(pa.int64(), rows, every_other), "tags": lists}
    for name, column in more.items():
        whole = whole.append_column(name, column)
    source = replace(flown.source, applied=whole.slice(0, rows - STRANGERS))
    roles = source.roles.model_dump(mode="json", exclude_none=True)
    columns = {**roles["columns"], **dict.fromkeys(more, "keep")}
    roles = Roles.model_validate({**roles, "columns": columns})
    options = flown.case.module.options.fit.model_validate(source.fit)
    fitted = open_source(whole)
    kit = flown.case.module.fit(fitted, roles, options, seed=3, progress=silent)
    chosen = flown.case.module.choose(kit, Choice(policy=kit.policies // 2))
    again = replace(flown, source=source, kit=kit, chosen=chosen)
    release = again.apply(tmp_path / f"r{suffix}", keep_order=True)
    assert "tags" in open_source(release.path).columns
    assert not list(leaks(tmp_path, ["zqlistx", 987_654_321]))
