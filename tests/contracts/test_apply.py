"""Test the contract of releases for every kind of data."""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.contracts.people import CANARIES, put

from voile.core.errors import RequestError
from voile.data import Source, open_source
from voile.release.choice import Choice
from voile.release.manifest import StoredRelease, manifest_path, private_path

LIMITS = (
    "one row",
    "empty",
    "all rows equal",
    "all people equal",
    "all unique",
    "nulls",
    "NaN",
    "-0.0",
    "NaN in a kept column",
    "-0.0 in a kept column",
    "two columns of one name",
    "a column without a role",
    "a column too few",
)


def rows_of(path: Path, columns: list[str] | None = None) -> list[tuple[Any, ...]]:
    source = open_source(path)
    table = pa.Table.from_batches(source.batches(columns), source.schema(columns))
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def seen_by_all(release: StoredRelease) -> bytes:
    return release.path.read_bytes() + manifest_path(release.path).read_bytes()


def test_what_came_in_is_accounted_for(case: Any, tmp_path: Path) -> None:
    kit = case.fit(case.table, how="held out")
    strange = case.tiny.outside(case.table, "CANARYOUTSIDE")
    release = case.apply(tmp_path / "release.csv", kit=kit, thing=strange)
    counts = release.private["counts"]
    assert counts["read"] == len(case.table)
    assert counts["held_out"] > 0
    assert counts["released"] == len(rows_of(release.path))
    out = sum(counts[name] for name in ("released", "set_aside", "suppressed", "held_out"))
    assert counts["read"] == out


def test_identifiers_never_leave(case: Any, tmp_path: Path) -> None:
    texts = case.kind == "documents"  # which leave, and a policy may leave some of their names
    chosen = case.module.choose(case.kit, Choice(max_loss=1.0)) if texts else None
    release = case.apply(tmp_path / "release.csv", chosen=chosen)
    shown = seen_by_all(release)
    assert not [c for c in CANARIES if c.encode() in shown]
    hidden = set(case.tiny.roles().of("identifier", "drop", *(() if texts else ("text",))))
    assert not hidden & set(open_source(release.path).columns)


def test_a_value_no_policy_speaks_of_is_set_aside_unsaid(case: Any, tmp_path: Path) -> None:
    strange = case.tiny.outside(case.table, "CANARYOUTSIDE")
    release = case.apply(tmp_path / "release.csv", thing=strange)
    counts = release.private["counts"]
    assert counts["set_aside"] == 1
    assert [by["rows"] for by in counts["set_aside_by"]] == [1]
    private = b"".join(p.read_bytes() for p in release.folder.iterdir())
    assert b"CANARYOUTSIDE" not in seen_by_all(release) + private


def test_order_is_not_kept_unless_asked(case: Any, tmp_path: Path) -> None:
    shown = ["ward", "weight"]  # as in the source: what protects others may be drawn anew as well
    kept = rows_of(case.apply(tmp_path / "kept.csv", keep_order=True).path, shown)
    drawn = rows_of(case.apply(tmp_path / "drawn.csv").path, shown)
    again = rows_of(case.apply(tmp_path / "again.csv").path, shown)
    assert Counter(map(str, kept)) == Counter(map(str, drawn)) == Counter(map(str, again))
    assert kept != drawn
    assert drawn != again


def test_the_two_manifests_keep_apart(case: Any, tmp_path: Path) -> None:
    release = case.apply(tmp_path / "release.csv")
    assert stat.S_IMODE(os.stat(private_path(release.path)).st_mode) == 0o700
    public = json.dumps(release.public)
    for hidden in (release.private["source"]["sha256"], case.kit.id):
        assert hidden not in public
    assert not {"seed", "source", "kit", "counts"} & set(release.public)
    release.check_hash()


def test_an_existing_output_stays_unless_it_is_a_release(case: Any, tmp_path: Path) -> None:
    out = tmp_path / "release.csv"
    out.write_text("mine")
    for force in (False, True):
        with pytest.raises(RequestError, match="not a release that voile wrote"):
            case.apply(out, force=force)
        assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("release.csv", "mine")]
    out.unlink()
    case.apply(out)
    with pytest.raises(RequestError, match="the output exists already; replace it with --force"):
        case.apply(out)
    case.apply(out, force=True)
    assert rows_of(out)


def test_a_lost_secret_is_noticed(
    case: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a secret a release has the columns that it has with one, or is refused."""
    lasting = "no_pseudonyms" in case.module.options.apply.model_fields
    asked = {"no_pseudonyms": False} if lasting else {}
    monkeypatch.setenv("VOILE_SECRET", "a secret that is long enough for anybody")
    columns = open_source(case.apply(tmp_path / "with.csv", **asked).path).columns
    monkeypatch.delenv("VOILE_SECRET")
    out = tmp_path / "without.csv"
    if not lasting:
        assert open_source(case.apply(out).path).columns == columns
        return
    with pytest.raises(RequestError, match="no secret to make pseudonyms") as refused:
        case.apply(out, **asked)
    assert "--no-pseudonyms" in str(refused.value)
    assert not out.exists()
    release = case.apply(out, no_pseudonyms=True)
    assert all(holds is not False for _, holds in case.module.verify(release))
    assert not [c for c in CANARIES if c.encode() in seen_by_all(release)]


class Failing(Source):
    """A source that breaks in the middle of its rows."""

    def __init__(self, whole: Source) -> None:
        super().__init__(whole.name, whole.kind, whole.schema())
        self.whole = whole

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        yield next(iter(self.whole.batches(columns, batch_rows=50)))
        raise OSError("the disk is gone")

    def fingerprint(self) -> str:
        return self.whole.fingerprint()


def test_an_error_leaves_nothing_or_what_was_there(case: Any, tmp_path: Path) -> None:
    out = tmp_path / "release.csv"
    broken = Failing(open_source(case.table))
    with pytest.raises(OSError, match="disk is gone"):
        case.apply(out, thing=broken)
    assert list(tmp_path.iterdir()) == []
    before = seen_by_all(case.apply(out))
    names = sorted(tmp_path.iterdir())
    with pytest.raises(OSError, match="disk is gone"):
        case.apply(out, thing=broken, force=True)
    assert seen_by_all(StoredRelease.open(out)) == before
    assert sorted(tmp_path.iterdir()) == names


def test_a_policy_of_another_kit_is_refused(case: Any, tmp_path: Path) -> None:
    with pytest.raises(RequestError):
        case.apply(tmp_path / "release.csv", chosen=case.another(case.middle()))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_case_is_worked_on_or_refused(case: Any, tmp_path: Path, limit: str) -> None:
    table, works = case.tiny.limits()[limit]
    if not works:
        with pytest.raises(RequestError) as refused:
            case.fit(table)
        assert not [c for c in CANARIES if c in str(refused.value)]
        return
    kit = case.fit(table)
    for choice in (Choice(**{case.tiny.LIMIT: 1.0}), Choice(max_loss=1.0)):
        chosen = case.module.choose(kit, choice)
        out = tmp_path / "release.csv"
        release = case.apply(out, thing=table, kit=kit, chosen=chosen, force=True)
        assert release.private["counts"]["read"] == len(table)
        assert release.private["counts"]["released"] == len(rows_of(out)) == len(table)


def test_every_limit_case_is_there(case: Any) -> None:
    assert set(case.tiny.limits()) == set(LIMITS)


def test_a_release_verifies_until_it_is_touched(case: Any, tmp_path: Path) -> None:
    release = case.apply(tmp_path / "release.csv")
    assert all(holds is not False for _, holds in case.module.verify(release))


FORMULAS = ("=1+1", "+x", "@a", "-5-10", "'=x", "-5", "north")


def test_formulas_are_counted_and_escaped_where_asked(case: Any, tmp_path: Path) -> None:
    wards = pa.array([FORMULAS[i % len(FORMULAS)] for i in range(len(case.table))])
    table = put(case.table, "ward", wards)
    kit = case.fit(table)
    # the new wards join the rows of a person, and itemsets count them
    joined = {"accept_risk": "the rows are made up"} if case.kind == "itemsets" else {}
    found = []
    for formulas in ("keep", "escape"):
        out = tmp_path / f"{formulas}.csv"
        release = case.apply(out, kit=kit, thing=table, formulas=formulas, **joined)
        assert all(holds is not False for _, holds in case.module.verify(release))
        found.append(Counter(row["ward"] for row in read_rows(release.rows())))
        cells = sum(found[-1][text] for text in FORMULAS[:4])
        escaped = formulas == "escape"
        assert release.private["formulas"]["escaped"] == escaped
        assert release.private["formulas"]["cells"]["ward"] == cells > 0
        shown = {text[:1] for (text,) in rows_of(out, ["ward"])}
        assert shown == ({"'", "n", "-"} if escaped else {text[:1] for text in FORMULAS})
    assert found[0] == found[1]
    with pytest.raises(
        RequestError, match=r"--formulas escape applies only to \.csv and \.tsv files"
    ):
        case.apply(tmp_path / "r.parquet", kit=kit, thing=table, formulas="escape")


def read_rows(source: Source) -> list[dict[str, Any]]:
    return [row for batch in source.batches() for row in batch.to_pylist()]
