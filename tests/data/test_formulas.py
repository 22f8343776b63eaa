"""What a spreadsheet takes for a formula: found, escaped, and had back."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hostile.cases import cases

from voile.core.errors import RequestError
from voile.data import open_source, open_writer
from voile.data.formulas import UnescapedSource, escape, formulas, unescape

FORMULAS = (
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
    "＠SUM(A1)",
    "=",
    "-x",
    "+49 30 1",
    "-5-10",
    "--1",
    "+e5",
)
OTHERS = (
    "",
    "x=1",
    " =1",
    "-5",
    "+5",
    "-5.5",
    "-.5",
    "-5.",
    "+1e-9",
    "-",
    "+",
    "5-10",
    "'x",
    "'=1",
)
texts = st.text(alphabet="='+-@\t\r1.5eEx \n\",", max_size=8)


def array(*values: str | None) -> pa.Array:
    return pa.array(values, pa.string())


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_found(text: str) -> None:
    assert formulas(array(text, None)).to_pylist() == [True, False]


@pytest.mark.parametrize("text", OTHERS)
def test_numbers_and_other_text_are_none(text: str) -> None:
    assert formulas(array(text)).to_pylist() == [False]


@settings(max_examples=cases(300), derandomize=True, deadline=None)
@given(st.lists(st.none() | texts, max_size=6))
def test_what_is_escaped_holds_no_formula_and_is_had_back(cells: list[str | None]) -> None:
    escaped = escape(array(*cells))
    assert not any(formulas(escaped).to_pylist())
    assert unescape(escaped).to_pylist() == cells
    untouched = [cell for cell in cells if cell is None or cell.lstrip("'")[:1] not in "=+-@\t\r\n"]
    assert [cell for cell in escaped.to_pylist() if cell in untouched] == untouched


@pytest.mark.parametrize("end", [".csv", ".tsv"])
@pytest.mark.parametrize("encode", [False, True])
def test_a_file_is_true_to_the_byte_or_escaped(tmp_path: Path, end: str, encode: bool) -> None:
    note = array(*FORMULAS, *OTHERS, None)
    table = pa.table({"=note": note.dictionary_encode() if encode else note, "n": [-1] * len(note)})
    counted = {}
    for name, asked in (("kept", False), ("escaped", True)):
        with open_writer(tmp_path / f"{name}{end}", table.schema, escape=asked) as writer:
            for batch in table.to_batches(max_chunksize=5):
                writer.write(batch)
        counted[name] = dict(writer.formulas)
    assert counted["kept"] == counted["escaped"] == {"=note": len(FORMULAS) + 1}
    kept, escaped = (open_source(tmp_path / f"{name}{end}") for name in counted)
    assert list(kept.columns) == ["=note", "n"]
    assert list(escaped.columns) == ["'=note", "n"]
    assert not any(formulas(cells(escaped, "'=note")).to_pylist())
    assert cells(kept, "=note").to_pylist() == note.to_pylist()
    assert cells(UnescapedSource(escaped), "=note").to_pylist() == note.to_pylist()
    assert set(cells(escaped, "n").to_pylist()) == {"-1"}


def cells(source: object, column: str) -> pa.Array:
    table = pa.Table.from_batches(source.batches([column]), source.schema([column]))  # type: ignore[attr-defined]
    return table[column].combine_chunks()


@pytest.mark.parametrize("end", [".parquet", ".jsonl", ".arrow", ".duckdb"])
def test_other_formats_have_no_formulas(tmp_path: Path, end: str) -> None:
    table = pa.table({"note": array(*FORMULAS)})
    with pytest.raises(
        RequestError, match=r"--formulas escape applies only to .csv and .tsv files"
    ):
        open_writer(tmp_path / f"a{end}", table.schema, escape=True)
    with open_writer(tmp_path / f"a{end}", table.schema) as writer:
        writer.write(table.to_batches()[0])
    assert not writer.formulas
