"""A wing of one column, put through what every wing's apply shares: each row is accounted for."""

from __future__ import annotations

import csv
import json
import math
import os
import pickle
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from voile import __version__
from voile.core.errors import RequestError, TamperedError
from voile.core.evidence import Evidence, Note
from voile.core.progress import silent
from voile.core.rounding import Stating
from voile.data import open_source
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.engines.shuffle import BUCKETS
from voile.face.release import Release
from voile.keys.secret import Secret
from voile.release.apply import write
from voile.release.choice import Choice, Chosen
from voile.release.evidence import AttackResults, find_evidence
from voile.release.kit import Kit
from voile.release.options import ApplyOptions
from voile.release.outcomes import Aside, Batch, Outcome, Tally, Written
from voile.release.run import Run
from voile.release.step import Applying, released_schema
from voile.release.verify import check_seal, evidence_sealed, is_keyed, seal_evidence, sealed

ROLES = Roles.model_validate(
    {"subject": "who", "columns": {"who": "identifier", "visit": "drop", "word": "keep"}}
)
ALONE = Roles.model_validate({"columns": {"who": "identifier", "visit": "drop", "word": "keep"}})
KIT = Kit("tables", "private", {"policies": 1})
CHOSEN = Chosen("tables", KIT.id, 0, Choice(policy=0), {"loss": 0.5}, {}, edited=True)
SECRET = Secret(bytes(32))
NOBODY = HoldOut(0.0, bytes(16), None)
IN_ORDER = ApplyOptions(keep_order=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class Words(Applying[Counter[str], Counter[str]]):
    """Release a column of words: blank ones are set aside, and "rare" ones suppressed."""

    stating = Stating()
    batch_rows = 4

    found: dict[str, Any] = field(default_factory=dict)

    def make(self, batch: Batch) -> Outcome[Counter[str]]:
        words = batch.rows.column("word")
        blank = words.is_null().to_numpy(zero_copy_only=False)
        rare = pc.equal(words, "rare").fill_null(True).to_numpy(zero_copy_only=False)
        notes = Counter({"batches": 1, "rows": len(words)})
        return Outcome([words], notes, [Aside("word", "no word", blank)], rare)

    def nothing(self) -> Counter[str]:
        return Counter()

    def merge(self, notes: Counter[str], more: Counter[str]) -> None:
        notes.update(more)

    def conclude(self, notes: Counter[str]) -> Counter[str]:
        return Counter(notes)

    def certified(self, written: Written[Counter[str]]) -> dict[str, float]:
        assert written.scratch is None or not any(written.scratch.iterdir())
        self.found["people"] = written.suppressed_people()
        batches = written.rows.batches(["word"])
        self.found["seen"] = [word for b in batches for word in b.column(0).to_pylist()]
        return {"loss": 0.1234, "bits": math.inf}

    def public_manifest(self, figures: Mapping[str, float], known: Counter[str]) -> dict[str, Any]:
        return {"figures": {"loss": figures["loss"]}, "columns": []}

    def private_manifest(self, known: Counter[str]) -> dict[str, Any]:
        return {"own": dict(known)}


class Loud(Words):
    """Make capitals of the words when all rows were made."""

    def make(self, batch: Batch) -> Outcome[Counter[str]]:
        made = super().make(batch)
        return replace(made, columns=[*made.columns, *made.columns])

    def finish(self, columns: Sequence[pa.Array], known: Counter[str]) -> Sequence[pa.Array]:
        assert known["rows"] == len(PEOPLE), "a row is finished before the last was made"
        words, again = columns
        assert words.equals(again)
        return [pc.utf8_upper(words)]

    def certified(self, written: Written[Counter[str]]) -> dict[str, float]:
        return {"loss": 0.0}


PEOPLE = ["Ana", "Ana", "Leo", None, "Ana", "Eva", "Leo", None, "Ida", "Eva", "Ida", "Kim"]
WORDS = ["a", "b", "rare", "d", None, "rare", "g", "h", "rare", "rare", None, "=l"]
RELEASED = [0, 1, 3, 6, 7, 11]


def source(people: Sequence[str | None] = PEOPLE, words: Sequence[str | None] = WORDS) -> Any:
    visits = [f"v{row}" for row in range(len(people))]
    columns = {"who": people, "visit": visits, "word": words}
    return open_source(pa.table({name: pa.array(x, pa.string()) for name, x in columns.items()}))


def run(kind: type[Words] = Words, **more: Any) -> Words:
    asked = {
        "kit": KIT,
        "chosen": CHOSEN,
        "source": source(),
        "roles": ROLES,
        "hold_out": NOBODY,
        "columns": ["word"],
        "schema": pa.schema([("word", pa.string())]),
        "secret": SECRET,
    }
    return kind(**{**asked, **more})


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.parquet"


def private(out: Path, name: str) -> Path:
    return out.with_name(f"{out.name}.private") / name


def column(path: Path, name: str) -> list[Any]:
    found: list[Any] = pq.read_table(path)[name].to_pylist()
    return found


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
        "columns": [],
    }
    hidden = dict(release.private or {})
    assert hidden["source"] == {"name": source().name, "sha256": source().fingerprint()}
    assert (hidden["kit"], hidden["own"]) == (KIT.id, {"batches": 3, "rows": 12})
    assert hidden["chosen"] == {
        "number": 0, "choice": {"policy": 0}, "edited": True, "figures": {"loss": 0.5},
    }  # fmt: skip
    assert hidden["figures"] == {"loss": 0.1234}, "what is infinite is no number in JSON"
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
        def make(self, batch: Batch) -> Outcome[Counter[str]]:
            return replace(super().make(batch), suppressed=None)

    release = write(run(Plain), out, IN_ORDER, force=False, progress=silent)
    assert column(out, "word") == [word for word in WORDS if word is not None]
    assert (release.private or {})["counts"]["suppressed"] == 0


def test_rows_are_put_in_another_order_unless_that_is_to_be_kept(out: Path) -> None:
    words = [str(n) for n in range(200)]
    applying = run(source=source(words, words))
    release = write(applying, out, ApplyOptions(), force=False, progress=silent)
    assert (release.private or {})["counts"]["set_aside_by"] == []
    released = column(out, "word")
    assert released != words
    assert sorted(released, key=int) == words
    assert released == [str(row) for row in column(private(out, "rows.parquet"), "row")]


def test_an_order_that_is_too_large_for_memory_is_drawn_on_the_private_disk(out: Path) -> None:
    class Small(Words):
        shuffle_bytes = 2_048

    words = [str(n) for n in range(4 * BUCKETS)]
    write(
        run(Small, source=source(words, words)), out, ApplyOptions(), force=False, progress=silent
    )
    assert sorted(column(out, "word"), key=int) == words


@pytest.mark.parametrize("keep_order", [True, False])
def test_rows_are_finished_when_the_last_was_made(out: Path, keep_order: bool) -> None:
    loose = pa.schema([("word", pa.string()), ("again", pa.string())])
    applying = run(Loud, unfinished=loose, schema=pa.schema([("loud", pa.string())]))
    write(applying, out, ApplyOptions(keep_order=keep_order), force=False, progress=silent)
    assert sorted(column(out, "loud")) == sorted(WORDS[row].upper() for row in RELEASED)


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
    assert applying.described({"who": made}) == [
        {"column": "who", **made},
        {"column": "word", "role": "keep", "what": "as in the source"},
    ]


def test_lists_are_refused_where_a_file_has_no_type_for_them(tmp_path: Path) -> None:
    applying = run(lists=["word"])
    with pytest.raises(RequestError, match="column word holds lists"):
        write(applying, tmp_path / "out.csv", IN_ORDER, force=False, progress=silent)
    assert not any(tmp_path.iterdir())
    here = write(applying, None, IN_ORDER, force=False, progress=silent)
    assert len(here.frame) == len(RELEASED)


def test_progress_is_told_after_every_batch(out: Path) -> None:
    told: list[tuple[str, float]] = []
    write(
        run(),
        out,
        IN_ORDER,
        force=False,
        progress=lambda task, done, total=None: told.append((task, done)),
    )
    assert told == [("applying", 4), ("applying", 8), ("applying", 12), ("certifying", 0)]


def test_rows_in_another_order_are_written_after_all_are_drawn(out: Path) -> None:
    steps: list[tuple[str, float, float | None]] = []

    def progress(task: str, done: float, total: float | None = None) -> None:
        steps.append((task, done, total))

    write(run(), out, ApplyOptions(), force=False, progress=progress)
    read = [("applying", rows, len(WORDS)) for rows in (4, 8, 12)]
    assert [*steps[:3], steps[-2]] == [*read, ("writing", len(RELEASED), len(RELEASED))]


@pytest.mark.parametrize(("kind", "waits"), [(Words, False), (Loud, True)])
def test_rows_wait_on_disk_only_where_they_are_finished_last(
    out: Path, kind: type[Words], waits: bool
) -> None:
    """Rows in their order are else written as they are made: memory follows the batch."""
    loose = pa.schema([("word", pa.string()), ("again", pa.string())])
    applying = run(kind, unfinished=loose if waits else None)
    waiting = set()
    write(
        applying,
        out,
        IN_ORDER,
        force=False,
        progress=lambda *_: waiting.update(out.parent.rglob("*.arrow")),
    )
    assert bool(waiting) == waits


def test_an_output_that_is_there_is_replaced_only_by_force(out: Path) -> None:
    write(run(), out, IN_ORDER, force=False, progress=silent)
    with pytest.raises(Exception, match="there already"):
        write(run(), out, IN_ORDER, force=False, progress=silent)
    write(run(source=source(["Ana"], ["new"])), out, IN_ORDER, force=True, progress=silent)
    assert column(out, "word") == ["new"]


def test_a_row_that_is_lost_or_made_stops_the_release(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = Run._keep

    def lossy(self: Run[Any, Any], batch: Batch, made: Outcome[Any]) -> pa.RecordBatch:
        rows = keep(self, batch, made)
        self._tally.released -= 1
        return rows

    monkeypatch.setattr(Run, "_keep", lossy)
    with pytest.raises(AssertionError, match="12 rows came in and 9 are accounted for"):
        write(run(), out, IN_ORDER, force=False, progress=silent)
    assert not out.exists()
    whole = Tally(read=10, released=4, held_out=3, suppressed=2, set_aside_rows=1)
    whole.check()


OWN = pa.schema([("rows", pa.int64()), ("first", pa.string())])


class Noting(Words):
    """Write a line of each batch, and a last one."""

    def make(self, batch: Batch) -> Outcome[Counter[str]]:
        first = batch.rows.column("word")[0].as_py()
        return replace(super().make(batch), beside={"own.csv": line(len(batch.rows), first)})

    def last(self, known: Counter[str]) -> Mapping[str, pa.RecordBatch]:
        return {"own.csv": line(known["rows"], "in all")}


def line(rows: int, first: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"rows": rows, "first": first}], schema=OWN)


def test_what_a_wing_writes_itself_is_closed_and_sealed(out: Path) -> None:
    write(run(Noting, beside={"own.csv": OWN}), out, IN_ORDER, force=False, progress=silent)
    lines = ["rows,first", "4,a", "4,", "4,rare", "12,in all"]
    assert private(out, "own.csv").read_text().splitlines() == lines
    assert "own.csv" in json.loads(private(out, "seal.json").read_bytes())["files"]


def test_several_processes_make_what_one_makes(out: Path) -> None:
    others = out.with_name("others.parquet")
    here = run(Processes, beside={"own.csv": OWN})
    there = run(Processes, beside={"own.csv": OWN}, jobs=2)
    for applying, place in ((here, out), (there, others)):
        write(applying, place, IN_ORDER, force=False, progress=silent)
    assert here.found["processes"] == {os.getpid()}
    assert there.found["processes"].isdisjoint({os.getpid()})
    assert column(others, "word") == column(out, "word") == [WORDS[row] for row in RELEASED]
    for name in ("set-aside.csv", "own.csv"):
        assert private(others, name).read_bytes() == private(out, name).read_bytes()
    assert column(private(others, "rows.parquet"), "row") == RELEASED


class Processes(Noting):
    """Say in which process a batch was made."""

    def make(self, batch: Batch) -> Outcome[Counter[str]]:
        made = super().make(batch)
        return replace(made, notes=made.notes | {f"in {os.getpid()}": 1})

    def certified(self, written: Written[Counter[str]]) -> dict[str, float]:
        said = (name.partition("in ")[2] for name in written.known)
        self.found["processes"] = {int(number) for number in said if number}
        return super().certified(written)


def test_rows_of_a_batch_travel_alone() -> None:
    rows = pa.record_batch({"word": [f"word {n}" for n in range(10_000)]}).slice(5000, 2)
    batch = Batch(rows, np.array([5000, 5001]), np.array([True, False]))
    sent = pickle.dumps(batch)
    assert len(sent) < 2_000
    back = pickle.loads(sent)
    assert back.rows.to_pylist() == rows.to_pylist()
    assert back.numbers.tolist() == [5000, 5001]
    assert back.counted.tolist() == [True, False]


def test_a_release_in_memory_is_sealed_when_it_is_saved(tmp_path: Path) -> None:
    here = Release.of(write(run(named="visit"), None, IN_ORDER, force=False, progress=silent))
    assert here.frame["word"].to_pylist() == [WORDS[row] for row in RELEASED]
    aside = ["row,column,reason,visit", "4,word,no word,v4", "10,word,no word,v10"]
    assert (here.folder / "set-aside.csv").read_text().splitlines() == aside
    assert list(sealed(here, SECRET)) == list(evidence_sealed(here, SECRET)) == []
    check_seal(here, SECRET)
    seal_evidence(here, tmp_path / "none.json", SECRET)
    saved = here.save(tmp_path / "out.csv", formulas="escape")
    assert (tmp_path / "out.csv").read_text().splitlines()[-1] == "'=l"
    check_seal(saved, SECRET)
    assert (saved.private or {})["counts"] == (here.private or {})["counts"]
    with pytest.raises(Exception, match="is there already"):
        here.save(tmp_path / "out.csv")
    here.save(tmp_path / "out.csv", force=True)
    assert (tmp_path / "out.csv").read_text().splitlines()[-1] == "=l"


def test_evidence_of_a_release_in_memory_is_saved_and_sealed_with_it(tmp_path: Path) -> None:
    here = Release.of(write(run(), None, IN_ORDER, force=False, progress=silent))
    story = Note("The adversary reads.")
    found = AttackResults(here, [Evidence("reading", "linkability", story, (), ())])
    for evidence in (found, None, found):
        saved = here.save(tmp_path / "out.csv", evidence, force=True)
        assert private(saved.path, "evidence.json").exists() == (evidence is not None)
        assert tuple(find_evidence(saved, SECRET)) == (evidence or ())
    other = Release.of(write(run(), None, IN_ORDER, force=False, progress=silent))
    apart = replace(other, public={**other.public, "sha256": "0"})
    with pytest.raises(RequestError, match="about another release"):
        apart.save(tmp_path / "other.csv", found)
    assert not (tmp_path / "other.csv").exists()


def test_a_changed_release_in_memory_is_found() -> None:
    here = Release.of(write(run(), None, IN_ORDER, force=False, progress=silent))
    other = replace(here, public={**here.public, "sha256": "0"})
    with pytest.raises(TamperedError):
        other.check_hash()
    with pytest.raises(TamperedError, match="no seal"):
        here.seal("seal.json")
    assert not is_keyed(here)
