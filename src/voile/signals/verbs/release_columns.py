"""The columns of a release of signals, and of its recipient's private table."""

from __future__ import annotations

import pyarrow as pa

from voile.core.errors import RequestError
from voile.data import Source
from voile.data.roles import AS_IT_IS
from voile.keys.secret import Secret
from voile.signals.model.readings.forms import KnownColumn
from voile.signals.model.readings.sources import SignalReader

PSEUDONYM = "pseudonym"  # replaces the subject column, which may have an identifying name
MAC, KEY = "mac", "key"  # columns of MACs, and of their keys in classes.csv
CLASSES, OUTSIDE = "classes.csv", "outside.csv"
AS_IN_SOURCE = "as in the source"


def release_schema(source: Source, reader: SignalReader) -> pa.Schema:
    """Return the columns of the release: pseudonym, messages and kept columns."""
    from voile.release.step import released_schema  # live verbs do not need it

    sent = {form.column: form.sent_type for form in reader.forms}
    kept = {*reader.roles.of(*AS_IT_IS)}
    kept |= {one.column for one in reader.sides if one.settings.sent}
    shown = released_schema(source, sent, kept - {reader.subject})
    own = [PSEUDONYM, *([MAC] if reader.sides else [])]
    if taken := [name for name in own if name in shown.names]:
        raise RequestError(
            f"two columns of the release would be called {taken[0]}",
            where=source.name,
            instead="rename the source's column",
        )
    first, *last = (pa.field(name, pa.string()) for name in own)
    return pa.schema([first, *shown, *last])


def columns_read(reader: SignalReader, schema: pa.Schema) -> list[str]:
    made = [PSEUDONYM, *([MAC] if reader.sides else [])]
    shown = [name for name in schema.names if name not in made]
    return [*dict.fromkeys([*shown, *(one.column for one in reader.sides), reader.private])]


def classes_schema(source: Source, reader: SignalReader) -> pa.Schema:
    """Return the columns of classes.csv, which the recipient needs with the release."""
    names = [PSEUDONYM, reader.private]
    fields = [pa.field(name, pa.string()) for name in names]
    for one in reader.sides:
        if not one.settings.sent:
            fields.append(pa.field(one.column, _hidden_type(source, one)))
    if reader.sides:
        fields.append(pa.field(KEY, pa.string()))
    if len({field.name for field in fields}) < len(fields):
        raise RequestError(
            f"two columns of {CLASSES} would have one name",
            where=source.name,
            instead=f"rename the source's columns to other names than {PSEUDONYM} and {KEY}",
        )
    return pa.schema(fields)


def as_cells(values: list[object], type_: pa.DataType) -> pa.Array:
    whole = pa.types.is_integer(type_)
    return pa.array(values, pa.float64() if whole else type_).cast(type_)


def _hidden_type(source: Source, one: KnownColumn) -> pa.DataType:
    if one.settings.nominal:
        return pa.string()
    type_ = source.columns[one.column]
    return type_ if pa.types.is_integer(type_) else pa.float64()


def mac_key(secret: Secret, pseudonym: str) -> bytes:
    """Return the key of one subject's MACs."""
    return secret.derive("known", pseudonym)
