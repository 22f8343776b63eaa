"""A line without end takes no memory, and a batch ends by bytes as well as by rows."""

from __future__ import annotations

import gzip
import json
import tracemalloc

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from voile.core.errors import RequestError, SourceError
from voile.data import open_source
from voile.data.formats import jsonlines

MIB = 1 << 20


def test_a_line_of_half_a_gigabyte_is_refused_before_it_is_read_whole(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    member = gzip.compress(b"Qwertzui" * (8 * MIB), 1)  # 64 MiB; members of gzip are one file
    path.write_bytes(gzip.compress(b'{"a": 1}\n{"a": "') + member * 8)
    tracemalloc.start()
    with pytest.raises(SourceError, match=r"a\.jsonl\.gz: row 2 is longer than 64 MiB") as refused:
        open_source(path, encoding="utf-8")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * MIB
    assert "Qwert" not in str(refused.value)


@pytest.mark.parametrize(("more", "allowed"), [(0, True), (1, False)])
def test_a_line_may_be_as_long_as_is_said(tmp_path, monkeypatch, more, allowed):
    monkeypatch.setattr(jsonlines, "LINE_BYTES", MIB)
    path = tmp_path / "a.jsonl"
    line = json.dumps({"a": "x" * (MIB - 10 + more)})  # with its line end 1 MiB and `more`
    path.write_text(f'{{"a": "y"}}\n{line}\n{{"a": "z"}}\n')
    if allowed:
        assert sum(batch.num_rows for batch in open_source(path).batches()) == 3
    else:
        with pytest.raises(SourceError, match="row 2 is longer than 1 MiB"):
            open_source(path)


def test_a_batch_of_long_lines_is_short(tmp_path, monkeypatch):
    monkeypatch.setattr(jsonlines, "BATCH_BYTES", 1000)
    path = tmp_path / "a.jsonl"
    path.write_text("\n\n".join(json.dumps({"a": "x" * 400, "n": n}) for n in range(7)))
    batches = list(open_source(path).batches())
    assert [batch.num_rows for batch in batches] == [3, 3, 1]
    assert [n for batch in batches for n in batch.column("n").to_pylist()] == [*range(7)]
    assert [batch.num_rows for batch in open_source(path).batches(batch_rows=2)] == [2, 2, 2, 1]


@pytest.mark.parametrize(
    "line", ['{"a": "Qwert \\uD83D"}', '{"a": ' + "[" * 100_000, '{"a": ' + "9" * 5000 + "}"]
)
def test_json_that_no_text_or_number_can_hold_is_refused(tmp_path, line):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": "\\ud83d\\ude00 \\\\ud83d"}\n' + line)
    with pytest.raises(
        SourceError, match=r"row 2 (holds half of a character|is JSON with too many levels)"
    ):
        open_source(path)


def test_json_that_is_not_utf_8_is_read_only_if_its_encoding_is_said(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes('{"a": "Núñez"}\n'.encode("windows-1252"))
    with pytest.raises(SourceError, match="byte 8 is not valid utf-8 text; say its encoding"):
        open_source(path)
    (batch,) = open_source(path, encoding="windows-1252").batches()
    assert batch.to_pylist() == [{"a": "Núñez"}]
    assert list(open_source(path, encoding="latin-1", errors="replace").columns) == ["a"]
    (batch,) = open_source(path, errors="replace").batches()
    assert batch.to_pylist() == [{"a": "N\ufffd\ufffdez"}]


def test_half_of_a_character_is_replaced_where_that_is_asked(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": ["\\ud83d", {"b": "\\ud83d\\ude00"}], "c\\ude00": "x"}\n')
    (batch,) = open_source(path, errors="replace").batches()
    assert batch.to_pylist() == [{"a": '["\ufffd",{"b":"\U0001f600"}]', "c\ufffd": "x"}]
    path.write_text('{"c\\ude00": "x", "c\\ude01": "y"}\n')
    with pytest.raises(RequestError, match="two columns have the same name:"):
        open_source(path, errors="replace")


def test_what_replaces_is_nothing_to_other_formats(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": ["x"]}), path)
    assert list(open_source(path, errors="replace").columns) == ["a"]
