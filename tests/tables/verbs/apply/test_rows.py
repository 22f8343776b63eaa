"""Apply loses no row, and leaves the whole release or nothing."""

from __future__ import annotations

import csv
import subprocess
import sys

import pyarrow as pa
import pytest
from tests.tables.verbs.apply.visits import finest, fitted, middle, read, roles, run

from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.release.choice import Choice
from voile.release.manifest import StoredRelease
from voile.report.wording import share
from voile.tables.module import TABLES
from voile.tables.verbs.choose import choose
from voile.tables.verbs.options import ApplyOptions
from voile.tables.verbs.report import sections
from voile.tables.verbs.verify import verify
from voile.tables.verbs.wording import format_expected

pytestmark = pytest.mark.filterwarnings(
    "ignore::voile.tables.policies.safe_harbor.SafeHarborWarning"
)


def test_rows_in_are_rows_accounted_for(kit, patients, key_file, tmp_path):
    strange = patients.set_column(2, "age", pa.array([99, None, *patients["age"].to_pylist()[2:]]))
    release = run(kit, strange, tmp_path / "out.csv", key_file=key_file)
    counts = release.private["counts"]
    held = set(read(release.folder / "control.parquet")["row"].to_pylist())
    outside = {0, 1} - held
    assert counts["set_aside"] == len(outside)
    assert counts["read"] == 300
    assert counts["released"] == read(release.path).num_rows == 300 - len(held | outside)
    with (release.folder / "set-aside.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["row"], row["column"]) for row in rows] == [
        (str(i), "age") for i in sorted(outside)
    ]
    assert {row["reason"] for row in rows} <= {"a value outside its domain"}


def test_the_order_is_not_the_sources_unless_asked(kit, patients, key_file, tmp_path):
    first, again, other, kept = (
        read(
            run(kit, patients, tmp_path / f"{name}.csv", key_file=key_file, **how).folder
            / "rows.parquet"
        )["row"].to_pylist()
        for name, how in (
            *(("a", {}), ("b", {}), ("c", {"recipient": "another"})),
            ("d", {"keep_order": True}),
        )
    )
    assert sorted(first) == sorted(other) == kept
    assert first == again, "one request under one secret has one order"
    assert first not in (kept, other)


def test_held_out_people_are_in_no_release_and_no_count(kit, patients, release):
    held = read(release.folder / "control.parquet")["row"].to_pylist()
    absent = {patients["who"][row].as_py() for row in held}
    rows = read(release.folder / "rows.parquet")["row"].to_pylist()
    present = {patients["who"][row].as_py() for row in rows}
    assert absent
    assert not absent & present
    assert len(absent | present) == 200
    counted = sum(kit.tables["counts"].column("sample").to_pylist())
    assert counted == pytest.approx(len(present))
    assert release.private["counts"]["held_out"] == len(held)


def ages_published(kit, table, out, **options):
    """Return the ends of the intervals that the most detailed policy publishes."""
    release = run(kit, table, out, chosen=finest(kit), **options)
    (age, _) = release.public["policy"]
    return [(entry["first"], entry["last"]) for entry in age["entries"]]


def with_people(patients, age, zip_, some, other):
    """Give all patients one age and ZIP code, and some rows others."""
    ages, zips = [age] * 300, [zip_] * 300
    for row in some:
        ages[row], zips[row] = other
    return patients.set_column(2, "age", pa.array(ages)).set_column(3, "zip", pa.array(zips))


def test_no_interval_is_named_by_a_value_that_is_held_out_or_set_aside(
    kit, patients, key_file, tmp_path, release
):
    held = read(release.folder / "control.parquet")["row"].to_pylist()
    out = with_people(patients, 30, "00501", held, (20, "00501"))
    assert ages_published(kit, out, tmp_path / "a.csv", key_file=key_file) == [("30", "30")]
    some = [row for row in range(40) if row not in held]
    out = with_people(patients, 30, "00501", some, (20, "99999"))
    assert ages_published(kit, out, tmp_path / "b.csv", key_file=key_file) == [("30", "30")]


def test_no_interval_is_named_by_a_value_that_is_suppressed(patients, tmp_path):
    kit = fitted(patients, roles(seen="drop"), k=5, suppress=0.2)
    kept = run(kit, patients, tmp_path / "whole.csv", chosen=finest(kit))
    rows = read(kept.folder / "rows.parquet")["row"].to_pylist()
    cells = list(zip(patients["age"].to_pylist(), patients["zip"].to_pylist(), strict=True))
    age, zip_ = cells[rows[0]]
    few = next(cells[row] for row in range(300) if row not in rows and cells[row][0] != age)
    without, beside = (with_people(patients, age, zip_, some, few) for some in ([], [0]))
    published = ages_published(kit, without, tmp_path / "without.csv")
    assert ages_published(kit, beside, tmp_path / "beside.csv") == published


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.duckdb", "out.jsonl", "out.arrow"])
@pytest.mark.parametrize("bounds", [False, True])
def test_every_format_verifies_and_holds_the_rows(kit, patients, key_file, tmp_path, name, bounds):
    made = run(kit, patients, tmp_path / name, key_file=key_file, keep_order=True, bounds=bounds)
    plain = run(
        kit, patients, tmp_path / "same.csv", key_file=key_file, keep_order=True, bounds=bounds
    )
    assert all(holds is not False for _, holds in verify(made))
    made.check_hash()
    rows, expected = (
        [[None if v is None else str(v) for v in row.values()] for row in read(r.path).to_pylist()]
        for r in (made, plain)
    )
    assert rows == expected


def test_a_duckdb_table_can_be_named(kit, patients, key_file, tmp_path):
    release = run(kit, patients, tmp_path / "out.duckdb::patients", key_file=key_file)
    assert release.path == tmp_path / "out.duckdb.patients.table"
    assert open_source(tmp_path / "out.duckdb::patients").columns
    assert StoredRelease.open(tmp_path / "out.duckdb::patients").path == release.path
    assert all(holds is not False for _, holds in verify(release))


def test_nothing_is_left_after_an_error(kit, patients, key_file, tmp_path, monkeypatch):
    source = open_source(patients)
    read_batches = source._read_batches

    def broken(columns, rows):
        yield from list(read_batches(columns, 100))[:1]
        raise OSError("the disk went away")

    monkeypatch.setattr(source, "_read_batches", broken)
    asked = ApplyOptions.model_validate({"key_file": key_file})
    with pytest.raises(OSError, match="went away"):
        TABLES.apply(
            kit, middle(kit), source, tmp_path / "o.csv", asked, force=False, progress=silent
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["out.docx", "out"])
def test_unknown_formats_and_existing_releases_are_refused(kit, patients, key_file, tmp_path, name):
    with pytest.raises(RequestError, match="cannot be written"):
        run(kit, patients, tmp_path / name, key_file=key_file)
    assert not list(tmp_path.iterdir())
    run(kit, patients, tmp_path / "out.csv", key_file=key_file)
    with pytest.raises(RequestError, match="exists already"):
        run(kit, patients, tmp_path / "out.csv", key_file=key_file)
    run(kit, patients, tmp_path / "out.csv", key_file=key_file, force=True)


def test_other_columns_than_fitted_are_refused(kit, patients, key_file, tmp_path):
    more = patients.append_column("more", patients["age"])
    with pytest.raises(RequestError, match="column more has no role"):
        run(kit, more, tmp_path / "out.csv", key_file=key_file)
    with pytest.raises(RequestError, match="there is no column ill"):
        run(kit, patients.drop_columns("ill"), tmp_path / "out.csv", key_file=key_file)


def test_columns_called_as_ours_are_released(patients, tmp_path):
    table = patients.rename_columns(["id", "name", "age", "zip", "row", "person", "note", "secret"])
    named = {"id": "identifier", "name": "drop", "age": "quasi", "zip": "quasi", "row": "keep",
             "person": "keep", "note": "text", "secret": "drop"}  # fmt: skip
    held_to = Roles.model_validate({"subject": "id", "columns": named})
    release = run(fitted(table, held_to), table, tmp_path / "out.parquet")
    assert read(release.path).column_names == ["age", "zip", "row", "person"]
    assert all(holds is not False for _, holds in verify(release))
    rows = read(release.folder / "rows.parquet")["row"].to_pylist()
    assert read(release.path)["row"].to_pylist() == [table["row"][i].as_py() for i in rows]


def test_an_empty_source_gives_an_empty_release(kit, patients, key_file, tmp_path):
    release = run(kit, patients.slice(0, 0), tmp_path / "out.csv", key_file=key_file)
    assert read(release.path).num_rows == release.private["counts"]["read"] == 0
    assert not {"k", "k_map"} & release.public["figures"].keys()
    assert all(holds is not False for _, holds in verify(release))


def test_the_report_counts_the_people_of_this_release_not_those_of_the_fit(
    kit, patients, key_file, tmp_path
):
    release = run(kit, patients.slice(0, 100), tmp_path / "out.csv", key_file=key_file)
    figures = release.private["figures"]
    people, found = f"{figures['subjects']:.0f}", format_expected(figures["expected_matches"])
    assert figures["subjects"] < release.private["story"]["subjects"] / 2
    (shown, said, *_) = sections(release, [], audience="internal")[0].blocks
    assert f"re-identify about {found} of the {people} people in the release" in said.paragraphs[0]
    assert shown.figures[0].meaning == f"of {people} in the release"
    assert shown.figures[3].value == share(figures["unique_with_kept"] / figures["subjects"])


def test_a_share_that_comes_to_nobody_is_public(kit, patients, key_file, tmp_path):
    coarsest = choose(kit, Choice(policy=0))
    release = run(kit, patients, tmp_path / "out.csv", chosen=coarsest, key_file=key_file)
    assert release.public["figures"]["share_under_11"] == 0


def test_a_share_that_comes_to_few_of_this_release_is_not_in_public(
    kit, patients, key_file, tmp_path
):
    coarse = choose(kit, Choice(policy=2))
    part = patients.slice(0, 40)
    release = run(kit, part, tmp_path / "out.csv", chosen=coarse, key_file=key_file)
    figures = release.private["figures"]
    assert 0 < figures["share_under_11"] * figures["subjects"] <= 10
    assert figures["share_under_11"] * release.private["story"]["subjects"] > 10
    assert "share_under_11" not in release.public["figures"]
    risk = next(one for one in sections(release, [], audience="public") if one.key == "risk")
    shown = {row[0]: row[2] for row in risk.blocks[0].rows}
    few = shown["people in groups of fewer than 11 in the population"]
    assert few.startswith(("under", "over"))


REPORT = """
import sys
from voile.release.manifest import StoredRelease
from voile.tables.verbs.report import sections

assert len(sections(StoredRelease.open(sys.argv[1]), (), audience="internal")) > 5
print(*(m for m in sys.modules if m == "numba" or m.startswith("voile.tables.fitting.kernels")))
"""


def test_the_report_of_a_release_loads_no_kernel(release):
    words = [sys.executable, "-c", REPORT, release.path]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
