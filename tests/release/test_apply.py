"""A wing of one column, put through what every wing's apply shares: each row is accounted for."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.release.words import (
    ALONE,
    IN_ORDER,
    KIT,
    PEOPLE,
    RELEASED,
    ROLES,
    SECRET,
    WORDS,
    Words,
    column,
    private,
    run,
    source,
)

from voile import __version__
from voile.core.errors import RequestError
from voile.core.progress import silent
from voile.data.column_digests import digest_columns
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.release.accounting import AccountedBatch, RowAccounting
from voile.release.apply import write
from voile.release.options import ApplyOptions
from voile.release.outcomes import BatchOutcome, RowTally, SourceBatch
from voile.release.step import released_schema
from voile.release.verify import check_seal


def test_every_row_is_released_set_aside_or_suppressed(out: Path) -> None:
    release = write(run(named="visit"), out, IN_ORDER, force=False, progress=silent)
    assert column(out, "word") == [WORDS[row] for row in RELEASED]
    assert column(private(out, "rows.parquet"), "row") == RELEASED
    assert column(private(out, "control.parquet"), "row") == []
    with private(out, "set-aside.csv").open(newline="") as lines:
        assert list(csv.reader(lines)) == [
            ["row", "column", "reason", "visit"],
            ["4", "word", "no word", "v4"],
            ["10", "word", "no word", "v10"],
        ]
    assert release.private is not None
    assert release.private["counts"] == {
        "read": 12,
        "released": 6,
        "held_out": 0,
        "suppressed": 4,
        "set_aside": 2,
        "set_aside_by": [{"column": "word", "reason": "no word", "rows": 2}],
    }
    check_seal(release, SECRET)


def test_both_manifests_say_what_they_may(out: Path) -> None:
    release = write(run(), out, IN_ORDER, force=False, progress=silent)
    assert release.public == {
        "format": "voile-release",
        "version": 1,
        "kind": "tables",
        "sha256": release.public["sha256"],
        "voile": __version__,
        "figures": {"loss": 0.13},
        "predicted": [],
        "columns": [],
    }
    hidden = dict(release.private or {})
    made_of = {"name": source().name, "sha256": source().fingerprint()}
    assert hidden["source"] == made_of | {"columns": digest_columns(source())}
    assert (hidden["kit"], hidden["own"]) == (KIT.id, {"batches": 3, "rows": 12})
    assert hidden["chosen"] == {
        "number": 0, "choice": {"policy": 0}, "edited": True, "figures": {"loss": 0.5},
    }  # fmt: skip
    assert hidden["figures"] == {"loss": 0.1234}, "what is infinite is not a number in JSON"
    assert Roles.model_validate(hidden["roles"]) == ROLES
    assert json.loads(private(out, "manifest.json").read_bytes()) == hidden


def test_a_person_has_one_token_in_a_run_and_another_in_the_next(out: Path) -> None:
    tokens = []
    for _ in range(2):
        write(run(), out, IN_ORDER, force=True, progress=silent)
        tokens.append(column(private(out, "rows.parquet"), "person"))
    for run_s in tokens:
        own = dict(zip(RELEASED, run_s, strict=True))
        assert own[0] == own[1], "both are Ana's"
        assert len(set(run_s)) == 5, "a row without a subject is a person of its own"
    assert not set(tokens[0]) & set(tokens[1])


def test_a_nameless_row_shares_no_token_with_a_subject_of_its_number(out: Path) -> None:
    people = ["r1", None, "s1", "1"]
    write(run(source=source(people, list("abcd"))), out, IN_ORDER, force=False, progress=silent)
    assert len(set(column(private(out, "rows.parquet"), "person"))) == 4


def test_without_subjects_nothing_is_said_of_whose_a_row_is(out: Path) -> None:
    applying = run(roles=ALONE)
    write(applying, out, IN_ORDER, force=False, progress=silent)
    assert pq.read_schema(private(out, "rows.parquet")).names == ["row"]
    assert applying.found["people"] == 4, "each suppressed row is a person"


def test_a_person_is_suppressed_who_had_rows_and_none_is_left(out: Path) -> None:
    """Eva and Ida lost all to suppression, Leo has one left; Ana's only lost row was blank."""
    applying = run()
    write(applying, out, IN_ORDER, force=False, progress=silent)
    assert applying.found["people"] == 2


def test_no_row_is_suppressed_where_the_wing_suppresses_none(out: Path) -> None:
    class Plain(Words):
        def make(self, batch: SourceBatch) -> BatchOutcome[Counter[str]]:
            return replace(super().make(batch), suppressed=None)

    release = write(run(Plain), out, IN_ORDER, force=False, progress=silent)
    assert column(out, "word") == [word for word in WORDS if word is not None]
    assert (release.private or {})["counts"]["suppressed"] == 0


def test_of_people_held_out_nothing_is_written_but_their_rows_numbers(out: Path) -> None:
    """Their words are neither released, nor set aside, nor suppressed."""
    hold_out = HoldOut(0.5, b"k" * 16, "who")
    release = write(run(hold_out=hold_out), out, IN_ORDER, force=False, progress=silent)
    control = column(private(out, "control.parquet"), "row")
    held = {PEOPLE[row] for row in control}
    assert control == [row for row, who in enumerate(PEOPLE) if who in held]
    assert held == {"Ana", "Ida", "Leo"}, "drawn by the key"
    left = [row for row in range(12) if row not in control]
    counts = dict((release.private or {})["counts"])
    assert column(private(out, "rows.parquet"), "row") == [r for r in RELEASED if r in left]
    assert counts["held_out"] == len(control)
    assert counts["suppressed"] == sum(WORDS[row] == "rare" for row in left)
    assert counts["set_aside"] == sum(WORDS[row] is None for row in left)


@pytest.mark.parametrize(("how", "written"), [("escape", "'=l"), ("keep", "=l")])
def test_formulas_are_escaped_where_that_is_asked_for(
    tmp_path: Path, how: Any, written: str
) -> None:
    out = tmp_path / "out.csv"
    applying = run()
    options = ApplyOptions(keep_order=True, formulas=how)
    release = write(applying, out, options, force=False, progress=silent)
    assert out.read_text().splitlines()[-1] == written
    assert applying.found["seen"][-1] == "=l", "what is certified is what was made"
    assert release.public.get("formulas") == (
        "escaped by an apostrophe" * (how == "escape") or None
    )
    said = {"escaped": how == "escape", "cells": {"word": 1}}
    assert (release.private or {})["formulas"] == said


def test_an_apostrophe_of_the_source_s_own_stays(tmp_path: Path) -> None:
    applying = run(source=source(["Ana"], ["'=1"]))
    write(applying, tmp_path / "out.csv", IN_ORDER, force=False, progress=silent)
    assert applying.found["seen"] == ["'=1"]


def test_a_table_of_a_database_is_released_beside_others(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(tmp_path / "out.duckdb") as database:
        database.execute("create table other as select 1 as n")
    release = write(run(), tmp_path / "out.duckdb::words", IN_ORDER, force=False, progress=silent)
    with duckdb.connect(tmp_path / "out.duckdb", read_only=True) as database:
        assert sorted(database.execute("show tables").fetchall()) == [("other",), ("words",)]
    released = [row["word"] for b in release.rows().batches(["word"]) for row in b.to_pylist()]
    assert released == [WORDS[row] for row in RELEASED]


def test_a_release_has_columns_in_the_source_s_order_some_made_some_kept() -> None:
    schema = released_schema(source(), {"word": pa.int8()}, {"who"})
    assert schema == pa.schema([("who", pa.string()), ("word", pa.int8())])


def test_columns_are_described_as_they_are_made_or_by_their_roles() -> None:
    made = {"role": "identifier", "what": "pseudonym"}
    applying = run(schema=pa.schema([("who", pa.string()), ("word", pa.string())]))
    assert applying.describe_columns({"who": made}) == [
        {"column": "who", **made},
        {"column": "word", "role": "keep", "what": "as in the source"},
    ]


def test_lists_are_refused_where_a_file_has_no_type_for_them(tmp_path: Path) -> None:
    applying = run(lists=["word"])
    with pytest.raises(
        RequestError, match=r"column word contains lists, which \.csv cannot contain"
    ):
        write(applying, tmp_path / "out.csv", IN_ORDER, force=False, progress=silent)
    assert not any(tmp_path.iterdir())
    here = write(applying, None, IN_ORDER, force=False, progress=silent)
    assert len(here.frame) == len(RELEASED)


def test_an_output_that_is_there_is_replaced_only_by_force(out: Path) -> None:
    write(run(), out, IN_ORDER, force=False, progress=silent)
    with pytest.raises(Exception, match="exists already"):
        write(run(), out, IN_ORDER, force=False, progress=silent)
    write(run(source=source(["Ana"], ["new"])), out, IN_ORDER, force=True, progress=silent)
    assert column(out, "word") == ["new"]


def test_a_row_that_is_lost_or_made_stops_the_release(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = RowAccounting.__call__

    def lossy(
        self: RowAccounting[Any, Any], batch: SourceBatch, made: BatchOutcome[Any]
    ) -> AccountedBatch:
        accounted = account(self, batch, made)
        accounted.tally.released -= 1
        return accounted

    monkeypatch.setattr(RowAccounting, "__call__", lossy)
    with pytest.raises(AssertionError, match="released, suppressed and rejected rows sum to 9"):
        write(run(), out, IN_ORDER, force=False, progress=silent)
    assert not out.exists()
    whole = RowTally(read=10, released=4, held_out=3, suppressed=2, set_aside_rows=1)
    whole.check()
