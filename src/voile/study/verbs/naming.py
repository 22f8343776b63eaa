"""The made-up names of a study's people, drawn once for columns, export and texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from voile.core.errors import RequestError
from voile.data import Source, open_source
from voile.documents.replacements.names import NameLists, NamePool, builtin_pool
from voile.study.plan.plan import StudyPlan
from voile.study.text.in_place import put_columns
from voile.study.text.names import MadeUpNames, PersonName
from voile.study.verbs.export import carrier_of
from voile.tables.verbs.measure_release import MADE_UP_NAME


def made_up_names(plan: StudyPlan) -> MadeUpNames:
    """Draw the name of each person from the lists of the first part of notes.

    Without names in the plan, return none.

    Raises
    ------
    RequestError : there is no such column of names.
    """
    if plan.names is None:
        return MadeUpNames({}, {})
    options = next((one.apply for one in plan.texts.values()), {})
    lists, language = options.get("names"), options.get("language", "english")
    pool = NamePool([NameLists.read(plan.place(Path(lists)))]) if lists else builtin_pool(language)
    return MadeUpNames.draw(plan.secret, dict(_true_names(plan)), pool)


def put_names(
    plan: StudyPlan, made: MadeUpNames, table: Path, whose: pa.Array
) -> list[dict[str, str]]:
    """Add the source's name columns to the table's release, and return their descriptions.

    whose : the person of each released row.
    """
    source, _ = plan.open_part(plan.table[0]), plan.table
    columns = _columns(plan) if plan.names and plan.names.source is None else []
    own = [(n, name) for n, name in enumerate(columns) if name in source.columns]
    if own:
        put_columns(table, {name: _cells(made, whose, n) for n, name in own})
    return [{"column": name, "role": "identifier", "what": MADE_UP_NAME} for _, name in own]


def _cells(made: MadeUpNames, whose: pa.Array, part: int) -> Iterator[str | None]:
    blank = PersonName("", "")
    yield from (made.names.get(str(one), blank)[part] or None for one in whose.to_pylist())


def _columns(plan: StudyPlan) -> list[str]:
    assert plan.names is not None
    return [plan.names.given, plan.names.family]


def _true_names(plan: StudyPlan) -> Iterator[tuple[str, PersonName]]:
    """Yield the name of each person. The last of several rows counts."""
    assert plan.names is not None
    if plan.export is not None and plan.names.source is None:
        for person, (given, family) in carrier_of(plan).names():
            yield person, PersonName(given or "", family or "")
        return
    source = _source(plan)
    wanted = [plan.study.subject, *_columns(plan)]
    if absent := [name for name in wanted if name not in source.columns]:
        raise RequestError(
            f"there is no column {absent[0]}",
            where="names",
            instead="name the columns of given and family names in [names]",
        )
    for batch in source.batches(wanted):
        for person, *own in zip(*(x.to_pylist() for x in batch.columns), strict=True):
            yield str(person), PersonName(*(str(x) if x is not None else "" for x in own))


def _source(plan: StudyPlan) -> Source:
    assert plan.names is not None
    if plan.names.source is None:
        return plan.open_part(plan.table[0])
    return open_source(plan.source(plan.names.source))
