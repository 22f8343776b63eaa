"""Delimited text: dialects and encodings found, damage named by its place."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError, SourceError
from voile.data import Source, open_source, open_writer
from voile.data.text import CHUNK, DecodingError


def save(folder: Path, data: bytes, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def rows_of(source: Source) -> list[list[str | None]]:
    return [list(row.values()) for batch in source.batches() for row in batch.to_pylist()]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "windows-1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_finds_encoding_line_ends_and_delimiter(
    tmp_path: Path, encoding: str, end: str, delimiter: str
) -> None:
    lines = [["Postleitzahl", "Müller, größe"], ["00501", '"1,5;2"'], ["", "ça"]]
    lines = [[f'"{c}"' if "," in c and '"' not in c else c for c in line] for line in lines]
    text = end.join(delimiter.join(line) for line in lines)
    source = open_source(save(tmp_path, text.encode(encoding)))
    assert list(source.columns) == ["Postleitzahl", "Müller, größe"]
    assert rows_of(source) == [["00501", "1,5;2"], [None, "ça"]]
    assert f"encoding {encoding}" in source.notes


def test_only_an_unquoted_empty_field_is_null(tmp_path: Path) -> None:
    path = save(tmp_path, b'a,b\n,""\nNA,NULL\n"",null\n')
    assert rows_of(open_source(path)) == [[None, ""], ["NA", "NULL"], ["", "null"]]


def test_blank_lines_are_rows_only_in_a_file_of_one_column(tmp_path: Path) -> None:
    assert rows_of(open_source(save(tmp_path, b"a,b\n\n1,2\n\n"))) == [["1", "2"]]
    assert rows_of(open_source(save(tmp_path, b"a\n1\n\n2\n"))) == [["1"], [None], ["2"]]


def test_columns_without_a_name_are_named_and_said(tmp_path: Path) -> None:
    source = open_source(save(tmp_path, b",b\n1,2\n"))
    assert list(source.columns) == ["column_1", "b"]
    assert "column 1 has no name: called column_1" in source.notes


def test_a_stated_encoding_is_used(tmp_path: Path) -> None:
    path = save(tmp_path, "имя,b\nЯ,1\n".encode("cp1251"))
    source = open_source(path, encoding="cp1251")
    assert list(source.columns) == ["имя", "b"]
    assert rows_of(source) == [["Я", "1"]]
    with pytest.raises(RequestError, match="there is no encoding klingon"):
        open_source(path, encoding="klingon")


@pytest.mark.whole
@pytest.mark.parametrize(
    ("encoding", "end"),
    [("utf-8-sig", b"\xe9\n"), ("utf-16", b"\x00\xd8\n\x00"), ("windows-1252", b"\x81\n")],
)
def test_a_late_byte_is_found_on_opening(tmp_path: Path, encoding: str, end: bytes) -> None:
    text = "a\né\n" + "x\n" * CHUNK
    path = save(tmp_path, text.encode(encoding) + end)
    with pytest.raises(DecodingError, match=f"byte {len(text.encode(encoding))} is not"):
        open_source(path)
    *_, last = rows_of(open_source(path, errors="replace"))
    assert last[0].startswith("\ufffd")


def test_one_bad_byte_before_all_others_is_damage(tmp_path: Path) -> None:
    good = "a\nJosé\nPeña\n"
    path = save(tmp_path, good.replace("a\n", "a\n\xa7", 1).encode("latin-1"))
    assert rows_of(open_source(path)) == [["\xa7José"], ["Peña"]]
    path = save(tmp_path, good.encode().replace(b"a\n", b"a\n\xe9", 1))
    with pytest.raises(DecodingError, match="byte 2 is not valid utf-8 text"):
        open_source(path)
    late = b"a\n\xe9\n" + b"x\n" * CHUNK + "é\n".encode()  # as many of each, far apart
    for name, data in (("b.csv", late), ("c.csv.gz", gzip.compress(late))):
        with pytest.raises(DecodingError, match="byte 2 is not valid utf-8 text"):
            open_source(save(tmp_path, data, name))


def test_a_text_cut_between_two_chunks_is_whole(tmp_path: Path) -> None:
    text = "a\n" + "x" * (CHUNK - 3) + "é" + "\n" + "y" * CHUNK + "é\n"
    path = save(tmp_path, text.encode())
    assert rows_of(open_source(path)) == [[row] for row in text.split("\n")[1:-1]]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,b\n1,2\n1,2,3\n", "row 3 has 3 fields, but the header has 2"),
        (b"a,b\n1,2\n\n1\n", "row 3 has 1 fields, but the header has 2"),
        (b'a,b\n1,2\n1,"open\n5,6\n', "row 3 opens a quote and never closes it"),
        (b'a,b\n1,2\n1,"open', "opens a quote after row 2 and never closes it"),
        (b'a\n1\n"open\n5\n', "row 3 opens a quote and never closes it"),
        ("a,b\né,1\n".encode() + b"x\xff,2\n", "byte 10 is not valid utf-8 text"),
        (b"a,b\n1,\x00\n", r"byte 6 is NUL \(a zero byte\), which text does not hold; remove it"),
        (b"a,b\n1,\xe9\x81\n", "byte 7 is not valid windows-1252 text"),
        (b"a,b\n1,2\n".decode().encode("utf-16-le"), r"byte 1 is NUL .* say the encoding"),
        (b"\xff\xfea\x00,\x00b\x00\n", "byte 8 is not valid utf-16 text"),
        (b"a,A\n1,2\n", "two columns have the same name: columns 1 and 2 of row 1"),
        (b" \n", "the file is empty and has no column names"),
        (b"\xef\xbb\xbf", "the file is empty and has no column names"),
        (b'"a,b\n1,2\n', "the file opens a quote after row 1 and never closes it"),
    ],
)  # fmt: skip
def test_damage_is_one_sentence_with_its_place(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(RequestError, match=message) as caught:
        rows_of(open_source(save(tmp_path, data)))
    assert str(caught.value).startswith("a.csv")
    assert "\n" not in str(caught.value)


def test_a_cut_gzip_file_says_how_far_it_goes(tmp_path: Path) -> None:
    rows = b"".join(b"%d,%d\n" % (i, i * i % 977) for i in range(50_000))
    data = gzip.compress(b"a,b\n" + rows)
    path = save(tmp_path, data[: len(data) // 2], "a.csv.gz")
    with pytest.raises(SourceError, match=r"truncated after [1-9]\d+ bytes of text"):
        open_source(path)
    with pytest.raises(SourceError, match="damaged or truncated after 0 bytes"):
        open_source(save(tmp_path, b"a,b\n1,2\n", "b.csv.gz"))


def test_a_ragged_row_after_many_blocks_is_numbered(tmp_path: Path) -> None:
    data = b"a,b\n" + b'1,"x\ny"\n' * 900_000 + b"1\n"
    with pytest.raises(SourceError, match="row 900002 has 1 fields"):
        for _ in open_source(save(tmp_path, data)).batches():
            pass


def test_a_quote_never_closed_in_a_long_file_is_said(tmp_path: Path) -> None:
    data = b'a,b\n1,"open\n' + b"1,2\n" * 2_200_000
    with pytest.raises(
        SourceError,
        match="the file opens a quote after row 1 and never closes it",
    ):
        rows_of(open_source(save(tmp_path, data)))


cells = st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.tuples(*[cells] * n), max_size=6)))
def test_what_is_written_is_read_back(rows: list[tuple[str | None, ...]]) -> None:
    import tempfile

    width = len(rows[0]) if rows else 2
    names = [f"c{i}" for i in range(width)]
    table = pa.table([pa.array([r[i] for r in rows], pa.string()) for i in range(width)], names)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        with open_writer(path, table.schema) as writer:
            for batch in table.to_batches(max_chunksize=2):
                writer.write(batch)
        source = open_source(path)
        assert pa.Table.from_batches(source.batches(), source.schema()).equals(table)
        python = csv.reader(io.StringIO(path.read_bytes().decode(), newline=""))
        if width > 1:  # the csv module takes a blank line for no row
            assert list(python)[1:] == [[c or "" for c in row] for row in rows]


@pytest.mark.parametrize("end", [".csv", ".xlsx"])
def test_no_name_of_a_first_row_is_told(tmp_path: Path, end: str) -> None:
    """Without a header the first row is a person's."""
    path = tmp_path / f"people{end}"
    if end == ".csv":
        path.write_text("39,CANARY,CANARY\n41,x,y\n")
    else:
        book = openpyxl.Workbook()
        book.active.append(["39", "CANARY", "CANARY"])
        book.save(path)
    with pytest.raises(RequestError, match="columns 2 and 3 of row 1") as caught:
        open_source(path)
    assert "CANARY" not in str(caught.value)
