"""What messages of readings show: the readings that they stand for under the classes' maps."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from voile.data import Source, open_source
from voile.gate.people import ReleasedPart
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease, source_rows
from voile.signals.model.content import SignalsContent


def open_readings(
    part: StoredRelease, source: Source, name_of: Callable[[str], str]
) -> ReleasedPart:
    """Open the readings of a part as if every message were decoded by its person's own class.

    The adversary has the kit, but not the class. Messages decoded by all classes leave at least as
    many candidates. name_of : the name of a person in the parts. Memory: the readings of the part.
    """
    hidden = part.private or {}
    roles = hidden["roles"]["columns"]
    subject = str(hidden["roles"]["subject"])
    columns = [name for name, one in roles.items() if one["role"] == "reading"]
    true = source.read([subject, *columns]).take(source_rows(part.folder)).to_pylist()
    items = [[f"{name}={row[name]}" for name in columns if row[name] is not None] for row in true]
    table = pa.table({"person": [name_of(str(row[subject])) for row in true],
                      "readings": pa.array(items, pa.list_(pa.string()))})  # fmt: skip
    return ReleasedPart(rows=open_source(table), person="person", facts=("readings",))


def decoded_columns(kit: StoredKit) -> tuple[str, ...]:
    """Return the columns in decoded messages: readings, and the class and known columns that encode
    them.
    """
    reader = SignalsContent.of(kit).reader
    return (*reader.columns, reader.private, *(one.column for one in reader.sides))
