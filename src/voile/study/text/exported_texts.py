"""The files of a written export for the value search: every cell, with its person.

A FHIR resource is one text of all its strings and numbers. Its person is the patient itself, or the
patient that it refers to. The gate decodes attachments. The person of an OMOP row is its
`person_id`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from voile.data import Source, open_source
from voile.data.fhir.fields import find_references
from voile.data.fhir.lines import read_resources
from voile.gate.values.search import TEXT_COLUMNS, VALUE_COLUMNS, Column
from voile.release.values import as_cells
from voile.study.carriers.carrier import KNOWN, zip_of

ROWS = 1000
PATIENT = "Patient"
ZIP = "zip_code"
"""The column of codes that the table of people generalises. Longer codes are unreleased values."""
Text = tuple[str | None, str, str]
"""A pseudonym, a column and a text."""


@dataclass(frozen=True)
class SearchedExport:
    """The written files of an export, with the source's data on its people.

    folder : the folder of the written files. known : names, numbers and addresses, by `subject`.
    whose : the person of each pseudonym.
    """

    folder: Path
    known: Source | None
    subject: str
    whose: Mapping[str, str]
    generalised: Sequence[Column] = ()

    def labels(self) -> set[str]:
        """Return no labels, since those of the table of people are searched with the table."""
        return set()

    def values(self) -> Iterator[pa.RecordBatch]:
        """Yield the unreleased values of every person."""
        for batch in () if self.known is None else self.known.batches():
            people = batch.column(self.subject)
            for column in batch.schema.names:
                cells = batch.column(column)
                if column == ZIP:
                    cells = pa.array([None if zip_of(x) == x else x for x in cells.to_pylist()],
                                     pa.string())  # fmt: skip
                yield as_cells(people, KNOWN, column, cells, VALUE_COLUMNS)

    def texts(self) -> Iterator[pa.RecordBatch]:
        """Yield every cell of the written files, with its person if it has one."""
        cells = self._cells()
        while rows := list(islice(cells, ROWS)):
            people, columns, texts = zip(*rows, strict=True)
            whose = [self.whose.get(one or "") for one in people]
            given = [whose, [self.folder.name] * len(rows), columns, texts]
            own = [pa.array(one, pa.string()) for one in given]
            yield pa.record_batch(own, names=list(TEXT_COLUMNS))

    def _cells(self) -> Iterator[Text]:
        rows: dict[str, Source] = {}
        for path in sorted(one for one in self.folder.iterdir() if one.is_file()):
            if path.suffix == ".ndjson":
                for _, one in read_resources(path):
                    yield _person_of(one), path.name, "\n".join(_leaves(one))
            else:
                rows[path.name] = open_source(path)
        numbers = _numbers_of(rows)
        for name, source in rows.items():
            yield from _cells_of(name, source, numbers)


def _person_of(resource: Mapping[str, Any]) -> str | None:
    """Return the id of the patient that a resource is, or of the first that it refers to."""
    if resource.get("resourceType") == PATIENT:
        return str(resource.get("id"))
    named = (one.rpartition("/") for one in find_references(resource))
    return next((own for kind, _, own in named if kind == PATIENT), None)


def _leaves(found: Any) -> Iterator[str]:
    if isinstance(found, dict):
        for one in found.values():
            yield from _leaves(one)
    elif isinstance(found, list):
        for one in found:
            yield from _leaves(one)
    elif found is not None:
        yield str(found)


def _numbers_of(rows: Mapping[str, Source]) -> dict[str, str]:
    """Return the pseudonym of each person number."""
    people = next((x for x in rows.values() if "person_source_value" in x.columns), None)
    if people is None:
        return {}
    own = people.read(["person_id", "person_source_value"])
    return {str(n): str(x) for n, x in zip(*(c.to_pylist() for c in own.columns), strict=True)}


def _cells_of(name: str, source: Source, numbers: Mapping[str, str]) -> Iterator[Text]:
    for batch in source.batches():
        for row in batch.to_pylist():
            person = numbers.get(str(row.get("person_id")))
            yield from ((person, f"{name}: {x}", str(y)) for x, y in row.items() if y is not None)
