"""Count text that a spreadsheet would run as a formula, and escape it on request.

A cell is a formula if it begins with `=`, `+`, `-`, `@` (also in full width), a tab or a line end.
A number or a single sign is not a formula. Escaping adds an apostrophe in front. If a formula
already begins with apostrophes, one more is added, so that each cell can be restored.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from voile.data.source import Source

STARTS = "[=+\\-@\\t\\r\\n＝＋－＠]"
NUMBER = "^[+-]((\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?)?$"


def formulas(texts: pa.Array) -> pa.BooleanArray:
    """Return which texts a spreadsheet would run as formulas. A null is not a formula."""
    return _begins(texts, f"^{STARTS}")


def escape(texts: pa.Array) -> pa.Array:
    """Add an apostrophe before each formula, and before each cell that would look escaped."""
    mark, nothing = pa.scalar("'", texts.type), pa.scalar("", texts.type)
    marked = pc.binary_join_element_wise(mark, texts, nothing)
    return pc.if_else(_begins(texts, f"^'*{STARTS}"), marked, texts)


def unescape(texts: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(texts, f"^'('*{STARTS})", "\\1")


def _begins(texts: pa.Array, pattern: str) -> pa.BooleanArray:
    found = pc.fill_null(pc.match_substring_regex(texts, pattern), False)
    if not pc.any(found).as_py():
        return found
    return pc.and_not_kleene(found, pc.match_substring_regex(texts, NUMBER))


class UnescapedSource(Source):
    """A source of text columns, such as CSV, with the escaping of names and cells removed."""

    def __init__(self, escaped: Source) -> None:
        names = unescape(pa.array(escaped.columns, pa.string())).to_pylist()
        types = escaped.columns.values()
        super().__init__(escaped.name, escaped.kind, map(pa.field, names, types), escaped.notes)
        self._escaped = escaped
        self._names = dict(zip(names, escaped.columns, strict=True))

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        escaped = [self._names[name] for name in columns]
        for batch in self._escaped.batches(escaped, batch_rows=rows):
            yield pa.RecordBatch.from_arrays(list(map(unescape, batch.columns)), columns)

    def fingerprint(self) -> str:
        return self._escaped.fingerprint()
