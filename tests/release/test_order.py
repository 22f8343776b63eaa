"""Rows are put in another order, or kept in theirs, and written when they are finished."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.release.words import (
    IN_ORDER,
    PEOPLE,
    RELEASED,
    WORDS,
    Words,
    column,
    private,
    run,
    source,
)

from voile.core.progress import silent
from voile.data import open_source
from voile.engines.shuffle import BUCKETS
from voile.gate.finding import NOBODY, GateFinding
from voile.release.apply import write
from voile.release.draws import ReleaseDraws
from voile.release.options import ApplyOptions
from voile.release.outcomes import BatchOutcome, SourceBatch, WrittenRelease


class Listing(ApplyOptions):
    """Options of a module: one names a file, one does not."""

    names: Path | None = None
    letters: int = 1


class Loud(Words):
    """Make capitals of the words when all rows were made."""

    def make(self, batch: SourceBatch) -> BatchOutcome[Counter[str]]:
        made = super().make(batch)
        return replace(made, columns=[*made.columns, *made.columns])

    def finish(self, columns: Sequence[pa.Array], known: Counter[str]) -> Sequence[pa.Array]:
        assert known["rows"] == len(PEOPLE), "a row is finished before the last was made"
        words, again = columns
        assert words.equals(again)
        return [pc.utf8_upper(words)]

    def measure(self, written: WrittenRelease[Counter[str]]) -> tuple[GateFinding, ...]:
        return (NOBODY.finds("loss", 0.0, "share"),)


def test_rows_are_put_in_another_order_unless_that_is_to_be_kept(out: Path) -> None:
    words = [str(n) for n in range(200)]
    applying = run(source=source(words, words))
    release = write(applying, out, ApplyOptions(), force=False, progress=silent)
    assert (release.private or {})["counts"]["set_aside_by"] == []
    released = column(out, "word")
    assert released != words
    assert sorted(released, key=int) == words
    assert released == [str(row) for row in column(private(out, "rows.parquet"), "row")]


def write_key(place: Path, letters: str) -> None:
    place.write_text(letters)
    place.chmod(0o600)


def draw_order(out: Path, key: Path | None, *, word: str = "0", **given: Any) -> list[str]:
    """Release 200 words, the first of them `word`; return them in the release's order."""
    words = [word, *(str(n) for n in range(1, 200))]
    options = Listing(key_file=key, **given)
    write(run(source=source(words, words)), out, options, force=False, progress=silent)
    return column(out, "word")


def test_one_secret_repeats_the_order_of_one_request_and_of_no_other(tmp_path: Path) -> None:
    key, other = (tmp_path / name for name in ("key", "other"))
    write_key(key, "a key of many letters, for tests alone")
    write_key(other, "another key of many letters, for tests")
    asked: list[dict[str, Any]] = [
        {"key": key},
        {"key": key},
        {"key": other},
        {"key": key, "word": "200"},
        {"key": key, "letters": 2},
        {"key": None},
        {"key": None},
    ]
    orders = [draw_order(tmp_path / f"{i}.parquet", **how) for i, how in enumerate(asked)]
    assert orders[0] == orders[1]
    assert len({tuple(order) for order in orders}) == len(asked) - 1


def test_two_tables_of_one_file_have_two_orders(tmp_path: Path) -> None:
    """A file of several tables has one name and one hash."""
    key, place = tmp_path / "key", tmp_path / "months.sqlite"
    write_key(key, "a key of many letters, for tests alone")
    with closing(sqlite3.connect(place)) as months:
        for month in ("may", "june"):
            months.execute(f"CREATE TABLE {month} (word TEXT)")
            months.executemany(
                f"INSERT INTO {month} VALUES (?)", [(f"{month[0]}{n}",) for n in range(9)]
            )
        months.commit()
    sources = [open_source(place, table=month) for month in ("may", "june")]
    assert len({(one.name, one.fingerprint()) for one in sources}) == 1
    applying, options = run(), ApplyOptions(key_file=key)
    drawn = {
        ReleaseDraws(options, applying.kit, applying.chosen, one).draw("order").bytes(32)
        for one in sources
    }
    assert len(drawn) == 2


def test_an_order_is_not_repeated_if_an_option_names_a_file(tmp_path: Path) -> None:
    key = tmp_path / "key"
    write_key(key, "a key of many letters, for tests alone")
    options = Listing(key_file=key, names=tmp_path / "names.txt")
    applying = run()
    drawn = {
        ReleaseDraws(options, applying.kit, applying.chosen, applying.source)
        .draw("order")
        .bytes(32)
        for _ in range(2)
    }
    assert len(drawn) == 2, "the file's content may change between the two releases"


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


def test_rows_in_another_order_are_written_after_all_are_drawn(out: Path) -> None:
    steps: list[tuple[str, float, float | None]] = []

    def progress(task: str, done: float, total: float | None = None) -> None:
        steps.append((task, done, total))

    write(run(), out, ApplyOptions(), force=False, progress=progress)
    read = [("applying the policy", rows, len(WORDS)) for rows in (4, 8, 12)]
    assert [*steps[:3], steps[-2]] == [*read, ("writing the release", len(RELEASED), len(RELEASED))]


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


def test_progress_is_told_after_every_batch(out: Path) -> None:
    told: list[tuple[str, float]] = []
    write(
        run(),
        out,
        IN_ORDER,
        force=False,
        progress=lambda task, done, total=None: told.append((task, done)),
    )
    assert told == [
        *(("applying the policy", rows) for rows in (4, 8, 12)),
        ("checking the release", 0),
    ]
