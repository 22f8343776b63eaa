"""The export of a plan: opened as tables before a verb, and written back after the parts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from voile.core.errors import RequestError, nearest
from voile.data import Source, open_source
from voile.data.fhir.definitions import read_elements
from voile.data.fhir.rules import read_rules_with
from voile.data.files.atomic import is_own
from voile.data.files.locks import FolderLock
from voile.data.source import BATCH_ROWS, OFFLINE
from voile.keys.seal import file_sha256
from voile.release.manifest import ROW, source_rows
from voile.study.carriers import FhirCarrier, OmopCarrier
from voile.study.carriers.carrier import (
    KNOWN,
    NOTE,
    PEOPLE,
    STAFF,
    SUBJECT,
    ZIPS,
    ExportCarrier,
    Extract,
    Names,
    ReleasedStudy,
    UncoveredContent,
)
from voile.study.carriers.carrier import Shown as Intervals
from voile.study.carriers.fhir_index import PATIENT
from voile.study.carriers.omop_rules import table_rules
from voile.study.plan.entries import ExportTable
from voile.study.plan.plan import StudyPlan
from voile.study.readers.values import WORDS
from voile.study.risk.remedies import ExportOptions
from voile.study.study_release import EXPORT
from voile.study.text.shown import PersonIntervals
from voile.study.verbs.capping import find_limits, write_capped

UNKNOWN = (
    "the joint figures assume an adversary without the diagnoses, readings, prescriptions and days "
    "in the export's files. Figures with known facts are of an adversary who knows some of these"
)

OTHER_NAME = "content with a name of its own"


def carrier_of(plan: StudyPlan) -> ExportCarrier:
    """Return the carrier that opens and writes the export of a plan.

    Raises
    ------
    RequestError : there is no export.
    """
    assert plan.export is not None
    return open_export(place_export(plan), plan.source(plan.export.source))


def place_export(plan: StudyPlan) -> ExportTable:
    """Return the export of a plan, with its folder of rules resolved relative to the plan."""
    assert plan.export is not None
    rules = plan.export.rules
    return plan.export.model_copy(update={"rules": rules and plan.place(rules)})


def open_export(export: ExportTable, place: str) -> ExportCarrier:
    """Return the carrier of an export at a path or address."""
    if "::" not in place and not Path(place).is_dir():
        raise RequestError(
            "there is no folder", where=place, instead="name the folder of the export"
        )
    drop, most = frozenset(export.drop), export.most_rows
    known = read_elements() if export.form == "fhir" else table_rules()
    if unknown := sorted(most.keys() - known.keys()):
        raise RequestError(
            f"most_rows in [export] names {unknown[0]}", instead=nearest(unknown[0], known)
        )
    stays = export.stays == "drop"
    if export.form == "fhir":
        return FhirCarrier(Path(place), export.as_of, drop, export.rules, export.marks, most, stays)
    to = export.to if export.to and "::" not in export.to else None
    return OmopCarrier(place, export.as_of, drop, to, most, stays)


def options_of_export(export: ExportTable) -> ExportOptions:
    """Return the options that remedies of an export extend. People and notes are never limited."""
    kept = {"person", "location", "note", PATIENT}
    if export.form == "fhir":
        kept |= {kind for kind, rule in read_rules_with(export.rules).items() if rule.notes}
    return ExportOptions(export.drop, export.most_rows, frozenset(kept))


@contextmanager
def unpack_export(plan: StudyPlan) -> Iterator[StudyPlan]:
    """Open the export of a plan as tables, and parts with fewer rows of each person.

    They are in a folder of mode 0700, which is removed at the end of the block. The next run first
    removes the files of a killed run.
    """
    capped = find_limits(plan)
    if plan.export is None and not capped:
        yield plan
        return
    room = plan.kit.with_name(f".{plan.kit.name}.export")
    tables, lock = room / "tables", FolderLock(room / "lock")
    if not is_own(room):
        raise RequestError(
            "the sources are opened there, and that folder is not yours alone",
            where=str(room),
            instead="remove it",
        )
    if not lock.acquire():
        raise RequestError("another run has these sources open", where=str(plan.path))
    try:
        shutil.rmtree(tables, ignore_errors=True)
        tables.mkdir(mode=0o700)
        if plan.export is not None:
            carrier = carrier_of(plan)
            carrier.unpack(tables)
            write_known(carrier, tables)
            _write_zip_codes(tables)
        for name, limit in capped.items():
            whole, subject = plan.open_part(name), plan.study.subject
            write_capped(whole, subject, limit, plan.secret, tables, name)
        plan._unpacked = tables
        yield plan
    finally:
        plan._unpacked = None
        shutil.rmtree(tables, ignore_errors=True)
        lock.release()
        with suppress(OSError):
            room.rmdir()


def known_in(carrier: ExportCarrier) -> dict[str, list[dict[str, str]]]:
    """Return the rows of an export about its people and staff, by table."""
    people = [{SUBJECT: whose, **row} for whose, row in carrier.list_known()]
    found = {KNOWN: people, STAFF: [dict(row) for row in carrier.staff()]}
    return {name: rows for name, rows in found.items() if rows}


def write_known(carrier: ExportCarrier, folder: Path) -> None:
    """Write the export's data on its people, for making a kit of its notes."""
    for name, rows in known_in(carrier).items():
        columns = dict.fromkeys(column for row in rows for column in row)
        schema = pa.schema([(column, pa.string()) for column in columns])
        pq.write_table(pa.Table.from_pylist(rows, schema), folder / f"{name}.parquet")


def _write_zip_codes(folder: Path) -> None:
    """Write the list of words with the people's ZIP codes, each with itself as its meaning."""
    codes = pq.read_table(folder / f"{PEOPLE}.parquet", columns=["zip"])["zip"].unique().drop_null()
    pq.write_table(pa.table({WORDS: codes, "zip": codes}), folder / f"{ZIPS}.parquet")


def pack(
    plan: StudyPlan,
    shown: PersonIntervals,
    notes: tuple[Source, Path, str] | None,
    extract: Extract,
    made_up: Callable[[str], Names],
    release: Path,
    scratch: Path,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Write the released data in the export's form. Return its entries for the two manifests.

    notes : the written texts, the private folder with their numbers, and their column.
    extract : moved days stay within these days if the plan leaves out others.
    made_up : returns the names of people in the release.
    """
    assert plan.export is not None
    folder, own = release / EXPORT, scratch / EXPORT
    folder.mkdir()
    own.mkdir()
    released = ReleasedStudy(
        plan.secret,
        mover(plan, extract),
        plan.export.as_of,
        _intervals(shown),
        iter(()) if notes is None else _in_order(*notes, own),
        made_up,
    )
    carrier = carrier_of(plan)
    packed = carrier.pack(released, folder, own)
    shutil.rmtree(own)
    files = {
        name: {"rows": rows, "sha256": file_sha256(folder / name)}
        for name, rows in packed.rows.items()
    }
    counts = {name: tally.to_data() for name, tally in packed.tallies.items()}
    uncovered = carrier.list_uncovered()
    return (
        {"form": plan.export.form, "files": files, "unreleased": _list_public(uncovered)},
        {"counts": counts, "uncovered": [one._asdict() for one in uncovered]},
    )


def _list_public(uncovered: Sequence[UncoveredContent]) -> list[dict[str, str]]:
    """Return the unreleased content and the reasons, for the public manifest.

    A count may be of few people, and a nonstandard name may belong to a person.
    """
    found = [(one.name if one.is_standard else OTHER_NAME, one.why) for one in uncovered]
    return [{"name": name, "why": why} for name, why in dict.fromkeys(found)]


def mover(plan: StudyPlan, extract: Extract = (None, None)) -> Any:
    """Return a function that moves a person's day like the days of all parts, or returns None.

    A day before the first visit belongs to an earlier illness or a birth, so it may stay before the
    extract.
    """
    secret, rule = plan.secret, plan.date_rule(*extract)
    offset_of = cache(lambda one: rule.offset(secret, one))

    def move(subject: str, day: date) -> date | None:
        try:
            new = day + timedelta(days=offset_of(subject))
        except OverflowError:
            return None
        was_before = rule.first is not None and max(day, new) < rule.first
        if not (rule.keeps(new) or was_before):
            return None
        return new.replace(day=1) if rule.months else new

    return move


def _intervals(shown: PersonIntervals) -> Any:
    """Return a function that returns the intervals of a person's row."""

    @cache
    def of(subject: str) -> Intervals | None:
        entries = shown.people.get(shown.name_of(subject))
        if entries is None:
            return None
        return {
            column: shown.codebook.column(column).entries[min(own)]
            for column, own in entries.items()
        }

    return of


def _in_order(texts: Source, private: Path, column: str, scratch: Path) -> Iterator[str | None]:
    """Yield the released text of each note of the export, or None, without end."""
    mixed, ordered = scratch / "mixed.parquet", scratch / "ordered.parquet"
    numbers = source_rows(private)
    schema = pa.schema([(ROW, pa.int64()), (NOTE, pa.string())])
    first = 0
    with pq.ParquetWriter(mixed, schema) as file:
        for batch in texts.batches([column], batch_rows=BATCH_ROWS // 16):
            own = numbers.slice(first, len(batch))
            file.write_batch(pa.RecordBatch.from_arrays([own, batch.column(0)], schema=schema))
            first += len(batch)
    with duckdb.connect(config={**OFFLINE, "temp_directory": str(scratch)}) as engine:
        to = str(ordered).replace("'", "''")
        sql = f"COPY (FROM read_parquet($1) ORDER BY \"row\") TO '{to}' (FORMAT parquet)"
        engine.execute(sql, [str(mixed)])
    at = 0
    for batch in open_source(ordered).batches(batch_rows=BATCH_ROWS // 16):
        for number, text in zip(*(x.to_pylist() for x in batch.columns), strict=True):
            yield from (None for _ in range(at, number))
            yield text
            at = number + 1
    while True:
        yield None


@contextmanager
def sending(plan: StudyPlan, release: Path, *, force: bool) -> Iterator[Any]:
    """Send released tables to PostgreSQL in one transaction, and yield its commit, if any."""
    to = None if plan.export is None else plan.export.to
    with ExitStack() as stack:
        if to is None or "::" not in to:
            yield None
        else:
            from voile.study.carriers.omop_sending import send

            yield stack.enter_context(send(to, release / EXPORT, force=force))


def check_files(release: Path, public: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield each file of a released export, and whether it matches the manifest."""
    for name, one in public.get("export", {}).get("files", {}).items():
        path = release / EXPORT / name
        yield name, path.is_file() and file_sha256(path) == one["sha256"]
