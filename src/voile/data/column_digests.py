"""Compute digests of columns that do not depend on the file format."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from voile.data.source import Source

Kind: TypeAlias = Literal["number", "time", "flag", "text"]
EXACT = 2.0**53
"""The bound below which floats represent every whole number."""
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "None")
ALIKE = (
    (r"^([+-]?)0+(\d)", r"\1\2"),
    (r"^([+-]?\d+\.\d*?)0+$", r"\1"),
    (r"^([+-]?\d+)\.$", r"\1"),
)
"""Patterns of digits that only some formats write, and the text that replaces each match."""


def digest_columns(source: Source, columns: Iterable[str] | None = None) -> dict[str, str]:
    """Hash the values of each column in order. A digest is the kind of the column and a SHA-256.

    Formats write numbers, days and missing values differently. 1.0, 01 and 1 have the same hash. So
    do a day and its midnight, and so do null, NA and empty text. Columns of lists and structures
    have no digest.

    Cost: one pass over the columns, O(bytes of their values as text).
    """
    schema = source.schema(columns)
    kinds = {field.name: kind for field in schema if (kind := _kind_of(field.type)) is not None}
    found = {name: (hashlib.sha256(), hashlib.sha256()) for name in kinds}
    for batch in source.batches(kinds) if kinds else ():
        for name, column in zip(kinds, batch.columns, strict=True):
            sizes, values = found[name]
            texts = pa.concat_arrays([_as_text(column, kinds[name])])
            sizes.update(pc.binary_length(texts).buffers()[1] or b"")
            values.update(texts.buffers()[2] or b"")
    return {
        name: f"{kinds[name]} {hashlib.sha256(a.digest() + b.digest()).hexdigest()}"
        for name, (a, b) in found.items()
    }


def find_changed(known: dict[str, str], source: Source) -> str | None:
    """Return a column that differs from its digest, or None if there is no such column.

    Columns of only one source are not compared. Days and flags are not compared with text, because
    the format of the text is unknown.
    """
    found = digest_columns(source, [name for name in source.columns if name in known])
    for name, digest in found.items():
        (kind, own), (other, given) = digest.split(), known[name].split()
        if own != given and (kind == other or {kind, other} == {"number", "text"}):
            return name
    return None


def _kind_of(type_: pa.DataType) -> Kind | None:
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    if pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return "number"
    if pa.types.is_date(type_) or pa.types.is_timestamp(type_):
        return "time"
    if pa.types.is_boolean(type_):
        return "flag"
    is_text = pa.types.is_string(type_) or pa.types.is_large_string(type_)
    return "text" if is_text else None


def _as_text(column: Any, kind: Kind) -> Any:
    if kind == "time":
        column = pc.cast(column, pa.timestamp("us"), safe=False)
    if kind == "number" and not pa.types.is_integer(column.type):
        numbers = pc.cast(column, pa.float64(), safe=False)
        is_whole = pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less(pc.abs(numbers), EXACT))
        whole = pc.cast(pc.if_else(is_whole, numbers, 0.0), pa.int64())
        texts = pc.if_else(
            is_whole, pc.cast(whole, pa.large_string()), pc.cast(numbers, pa.large_string())
        )
        return pc.fill_null(pc.if_else(pc.is_nan(numbers), "", texts), "")
    texts = pc.fill_null(pc.cast(column, pa.large_string()), "")
    return _simplify(texts) if kind == "text" else texts


def _simplify(texts: Any) -> Any:
    """Write numbers in text in the form of numeric columns. Convert each distinct text once."""
    coded = texts.dictionary_encode()
    distinct = coded.dictionary
    for old, new in ALIKE:
        distinct = pc.replace_substring_regex(distinct, old, new)
    distinct = pc.if_else(pc.is_in(distinct, pa.array(MISSING, pa.large_string())), "", distinct)
    return distinct.take(coded.indices)
