"""Folders of files give back the rows that were written into them."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError, SourceError
from voile.data.formats.folders import FILE, SPANS, TEXT, FolderSource, FolderWriter, is_file_name
from voile.data.opening import open_released, open_source
from voile.keys.seal import file_sha256

TEXTS = st.lists(
    st.text(st.sampled_from([*"aé\ufeff\u2028\r\n\t[]😀\x85"]), max_size=8), min_size=1, max_size=12
)
PLAIN = pa.schema([(FILE, pa.string()), (TEXT, pa.string())])
BRAT = PLAIN.append(pa.field(SPANS, pa.string()))


def written(folder, schema, *columns):
    with FolderWriter(folder, schema) as writer:
        writer.write(pa.RecordBatch.from_arrays([*map(pa.array, columns)], schema=schema))
    return FolderSource(folder)


@given(TEXTS, st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_texts_come_back_as_they_are_and_in_their_order(texts, rows):
    with tempfile.TemporaryDirectory() as place:
        nobody = pa.nulls(len(texts), pa.string())
        source = written(Path(place) / "out", PLAIN, nobody, texts)
        found = [row for batch in source.batches(batch_rows=rows) for row in batch.to_pylist()]
        assert [row[TEXT] for row in found] == texts
        assert [int(row[FILE]) for row in found] == list(range(1, len(texts) + 1))
        assert source.fingerprint() == file_sha256(Path(place) / "out")


@given(TEXTS)
@settings(max_examples=40, deadline=None)
def test_annotations_come_back(texts):
    texts = [f"{text}[NAME] and [X]" for text in texts]
    spans = [
        json.dumps(
            [{"start": len(t) - 14, "end": len(t) - 8, "label": "NAME"},
             {"start": len(t) - 3, "end": len(t), "label": "X"}],
            separators=(",", ":"),
        )
        for t in texts
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as place:
        nobody = pa.nulls(len(texts), pa.string())
        source = written(Path(place) / "out", BRAT, nobody, texts, spans)
        table = source.read()
        assert (table[TEXT].to_pylist(), table[SPANS].to_pylist()) == (texts, spans)
        assert "T1\tNAME " in (Path(place) / "out" / "000001.ann").read_text()


def test_more_than_a_million_numbers_stay_in_order(tmp_path):
    for name in ("000002", "999999", "1000000"):
        (tmp_path / f"{name}.txt").write_text(name)
    read = FolderSource(tmp_path).read([TEXT])[TEXT].to_pylist()
    assert read == ["000002", "999999", "1000000"]


@pytest.mark.parametrize(
    "name",
    ["..", ".", "", "a/b", "a\\b", "../a", "/etc", ".a", "a.", "a ", " a", "nul", "COM1.x", "a\n",
     "a\0", "a:b", "x" * 101, "😀" * 60, "a\u202eb"],
)  # fmt: skip
def test_names_that_lead_elsewhere_are_none(tmp_path, name):
    assert not is_file_name(name)
    with pytest.raises(RequestError, match="row 1 has the same file name as another row"):
        written(tmp_path / "out", PLAIN, [name], ["x"])
    assert [path.name for path in tmp_path.rglob("*")] == ["out"]


def test_names_that_differ_in_case_alone_are_one(tmp_path):
    with pytest.raises(RequestError, match="row 2 has the same file name"):
        written(tmp_path / "out", PLAIN, ["A", "a"], ["x", "y"])


def test_a_folder_is_a_source_where_a_release_was_asked_for(tmp_path):
    written(tmp_path / "out", PLAIN, ["a"], ["x"])
    assert open_released(tmp_path / "out").kind == "folder"
    with pytest.raises(RequestError, match=r"is a folder of \.txt files"):
        open_source(tmp_path / "out")


def test_what_was_put_there_since_is_another_hash_or_refused(tmp_path):
    out = tmp_path / "out"
    written(out, BRAT, ["a"], ["x"], ["[]"])
    before = file_sha256(out)
    (out / "b").mkdir()
    assert file_sha256(out) != before
    (out / "b").rmdir()
    assert file_sha256(out) == before
    (out / "a.ann").write_text("Qwertz")
    with pytest.raises(
        SourceError, match=r"^a\.ann: the file contains a line that is not a brat annotation; "
    ):
        FolderSource(out).read()
    (out / "a.txt").write_bytes(b"\xff")
    with pytest.raises(SourceError, match="the file is not UTF-8 text"):
        FolderSource(out).read([TEXT])
