"""The original readings behind messages, decoded under the maps of the classes."""

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
    """Open the readings of a part as if every message were decoded with its person's class.

    The adversary has the kit, but not the class. Decoding messages by all classes would leave at
    least as many candidates. `name_of` returns the name of a person in the parts. Memory: the
    readings of the part.
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
    """Return the columns in decoded messages: readings, the class and the known columns.

    The class and the known columns are needed for encoding.
    """
    reader = SignalsContent.of(kit).reader
    return (*reader.columns, reader.private, *(one.column for one in reader.sides))
