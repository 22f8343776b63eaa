"""Transactions and svmlight, read and written; what is none is refused with its line."""

from __future__ import annotations

import csv
import gzip

import pyarrow as pa
import pytest

from voile.core.errors import RequestError, SourceError
from voile.data import open_source, open_writer
from voile.data.formats.transactions import (
    SvmlightSource,
    SvmlightWriter,
    TransactionSource,
    TransactionWriter,
)
from voile.itemsets.rows.matrix_source import open_source as itemsets_source


def rows(source):
    table = pa.Table.from_batches(source.batches(batch_rows=2), source.schema())
    return [tuple(row.values()) for row in table.to_pylist()]


def test_a_line_is_a_row_and_a_blank_line_an_empty_one(tmp_path):
    path = tmp_path / "t.dat.gz"
    path.write_bytes(gzip.compress(b"1 3 9\r\n\n 7\t1 \n2"))
    assert rows(TransactionSource(path)) == [([1, 3, 9],), ([],), ([7, 1],), ([2],)]


@pytest.mark.parametrize("line", ["1 tea", "1 -2", "1.5", "1,2", "12345678901234567890"])
def test_a_word_is_refused_with_its_line_and_not_said(tmp_path, line):
    path = tmp_path / "t.dat"
    path.write_text(f"1 2\n3\n4\n{line}\n")
    with pytest.raises(SourceError, match=r"t\.dat, line 4") as refused:
        rows(TransactionSource(path))
    assert line not in str(refused.value)


def test_svmlight_has_a_label_and_items(tmp_path):
    path = tmp_path / "t.svm"
    path.write_text("+1 3:1 7:1.0 9:0 # of one\n-1\nspam 2:1\n")
    assert rows(SvmlightSource(path)) == [("+1", [3, 7]), ("-1", []), ("spam", [2])]
    path.write_text("1 3:1\n1 3:0.5\n")
    with pytest.raises(SourceError, match="line 2"):
        rows(SvmlightSource(path))


@pytest.mark.parametrize(
    ("reader", "writer", "names"),
    [
        (TransactionSource, TransactionWriter, ["items"]),
        (SvmlightSource, SvmlightWriter, ["label", "items"]),
    ],
)
def test_what_is_written_reads_back(tmp_path, reader, writer, names):
    whole = {"label": ["a", "b", "c"], "items": pa.array([[1, 2], [], [30]], pa.list_(pa.int64()))}
    table = pa.table({name: whole[name] for name in names})
    with writer(tmp_path / "t", table.schema) as file:
        for batch in table.to_batches(max_chunksize=2):
            file.write(batch)
    assert rows(reader(tmp_path / "t")) == [tuple(row.values()) for row in table.to_pylist()]


def test_a_column_that_has_no_place_is_refused(tmp_path):
    schema = pa.schema([("items", pa.list_(pa.int64())), ("ward", pa.string())])
    with pytest.raises(
        RequestError,
        match="this format has exactly the columns items, but the release has items, ward",
    ):
        TransactionWriter(tmp_path / "t", schema)


def test_a_label_by_another_name_is_not_said_to_be_what_the_format_lacks(tmp_path):
    schema = pa.schema({"ill": pa.string(), "items": pa.list_(pa.int64())})
    with pytest.raises(
        RequestError,
        match="this format has exactly the columns label and items, but the release has ill, items",
    ):
        SvmlightWriter(tmp_path / "r.svm", schema)


BASKETS = [["citrus fruit", "soup, ready"], ["tea", "yogurt", '6" roll'], [], ["whole milk"]]


def write_baskets(path, delimiter=",", *, ends="\n", bom=""):
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(bom)
        lines = csv.writer(file, delimiter=delimiter, lineterminator=ends)
        lines.writerows(BASKETS)
        lines.writerow([" tea ", "tea", ""])


def baskets_of(source):
    return [row["items"] for batch in source.batches(batch_rows=2) for row in batch.to_pylist()]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize(("ends", "bom"), [("\n", ""), ("\r\n", "\ufeff")])
def test_baskets_are_read_line_by_line(tmp_path, delimiter, ends, bom):
    write_baskets(tmp_path / "b.dat", delimiter, ends=ends, bom=bom)
    write_baskets(tmp_path / "b.csv", delimiter, ends=ends, bom=bom)
    expected = [*BASKETS, ["tea"]]
    assert baskets_of(open_source(tmp_path / "b.dat")) == expected
    assert baskets_of(open_source(f"{tmp_path / 'b.csv'}::baskets")) == expected
    assert baskets_of(itemsets_source(tmp_path / "b.csv")) == expected


def test_a_table_with_a_broken_row_is_no_baskets(tmp_path):
    place = tmp_path / "table.csv"
    place.write_text("a,b\n" + "1,0\n" * 20 + "1,0,1\n")
    for opened in (open_source, itemsets_source):
        with pytest.raises(SourceError, match="row 22 has 3 fields, but the header has 2"):
            list(opened(place).batches())


def write_lists(path, lists):
    table = pa.table({"items": pa.array(lists, pa.list_(pa.string()))})
    with open_writer(path, table.schema) as writer:
        for batch in table.to_batches():
            writer.write(batch)


@pytest.mark.parametrize(
    "lists", [BASKETS, [["whole milk"], ["green tea"]], [["1"], [], [], []], [["1", "2"], ["3"]]]
)
def test_baskets_are_written_and_read_again(tmp_path, lists):
    """Items with blanks and of digits stay text, also where no line has two."""
    write_lists(tmp_path / "out.dat", lists)
    assert baskets_of(open_source(tmp_path / "out.dat")) == lists


@pytest.mark.parametrize("item", ["", " tea", None])
def test_an_item_that_a_line_does_not_keep_is_refused(tmp_path, item):
    with pytest.raises(RequestError, match=r"an item is empty, .* write \.parquet or \.jsonl"):
        write_lists(tmp_path / "out.dat", [["milk", item]])


def test_packed_baskets_are_found(tmp_path):
    write_baskets(tmp_path / "b.csv")
    packed = gzip.compress((tmp_path / "b.csv").read_bytes())
    (tmp_path / "b.csv.gz").write_bytes(packed)
    assert baskets_of(itemsets_source(tmp_path / "b.csv.gz")) == [*BASKETS, ["tea"]]


def test_an_open_quote_of_a_basket_is_refused(tmp_path):
    (tmp_path / "b.dat").write_text('tea,"milk\ncoffee\n')
    with pytest.raises(SourceError, match="cannot be read as a basket"):
        list(open_source(tmp_path / "b.dat").batches())
