"""A release's manifests are found beside it, and its bytes are held to them."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import voile
from voile.core.errors import DamagedError, RequestError, TamperedError
from voile.data import open_source
from voile.data.column_digests import digest_columns
from voile.keys.seal import file_sha256
from voile.release.manifest import (
    ESCAPED,
    FORMAT,
    StoredRelease,
    encode,
    manifest_path,
    private_path,
)

HEAD = {"format": FORMAT, "version": 1}


def written(folder, **changes):
    out = folder / "out.csv"
    out.write_bytes(b"age\n0-17\n")
    public = {"kind": "tables", "sha256": file_sha256(out), "figures": {}}
    manifest_path(out).write_bytes(encode({**HEAD, **public, **changes}))
    return out


def test_both_manifests_are_read(tmp_path):
    out = written(tmp_path)
    assert StoredRelease.open(out).private is None
    private_path(out).mkdir(mode=0o700)
    private = {**HEAD, "sha256": "", "counts": {}, "chosen": {}, "figures": {}}
    (private_path(out) / "manifest.json").write_bytes(encode(private))
    release = StoredRelease.open(out)
    assert release.private == private
    assert release.kind == "tables"
    assert release.folder == tmp_path / "out.csv.private"
    release.check_hash()


def test_one_changed_byte_is_found(tmp_path):
    out = written(tmp_path)
    out.write_bytes(b"age\n0-18\n")
    with pytest.raises(TamperedError, match="not those its manifest names"):
        StoredRelease.open(out).check_hash()
    with pytest.raises(TamperedError, match="not those its manifest names"):
        voile.open_release(out).report()


def test_rows_come_without_the_apostrophes_that_make_formulas_text(tmp_path):
    out = written(tmp_path)
    out.write_text("note,age\n'=1+1,3\nwell,4\n")
    for how, first in (({}, "'=1+1"), ({"formulas": ESCAPED}, "=1+1")):
        release = StoredRelease(out, {"kind": "tables", **how})
        assert [cell for (cell,) in cells(release.rows(), "note")] == [first, "well"]


def cells(source, *names):
    return [tuple(row.values()) for b in source.batches(list(names)) for row in b.to_pylist()]


def test_whose_a_row_is_is_known_where_people_were_told_apart(tmp_path):
    release = StoredRelease.open(written(tmp_path))
    assert release.people() is None
    release.folder.mkdir(mode=0o700)
    pq.write_table(pa.table({"row": [0]}), release.folder / "rows.parquet")
    assert release.people() is None
    pq.write_table(pa.table({"row": [0], "person": [7]}), release.folder / "rows.parquet")
    assert cells(release.people(), "person") == [(7,)]


def test_a_source_that_changed_is_refused(tmp_path):
    place = tmp_path / "people.csv"
    place.write_text("age\n30\n31\n32\n")
    source, out = open_source(place), tmp_path / "out.csv"
    made_of = {"name": source.name, "sha256": source.fingerprint()}
    release = StoredRelease(out, {}, {"counts": {"read": 3}, "source": made_of})
    release.check_source(source, 3)
    with pytest.raises(RequestError, match=r"have 4 rows, and the release was made of 3"):
        release.check_source(source, 4)
    place.write_text("age\n30\n31\n33\n")
    with pytest.raises(RequestError, match="the source has changed since the release was made"):
        release.check_source(open_source(place), 3)
    frame = pa.table({"age": [30, 31]})
    in_memory = {"name": "arrow frame", "sha256": open_source(frame).fingerprint()}
    held = StoredRelease(out, {}, {"source": in_memory, "inventory": {"age": "generalised"}})
    wider = frame.append_column("who", pa.array(["a", "b"]))
    held.check_source(open_source(wider), 2)
    with pytest.raises(RequestError, match="the source has changed"):
        held.check_source(open_source(wider.set_column(0, "age", pa.array([30, 32]))), 2)
    copy = place.rename(tmp_path / "annotated.csv")
    release.check_source(open_source(copy), 3)  # a copy may have columns of its own
    whole = StoredRelease(out, {}, {**release.private, "inventory": {"age": "generalised"}})
    with pytest.raises(RequestError, match="the columns of the released source, and other bytes"):
        whole.check_source(open_source(copy), 3)
    copy.write_text("age\n30\n31\n32\n")
    whole.check_source(open_source(copy), 3)  # the same bytes under another name
    copy.write_text("age,note\n30,a\n31,b\n33,c\n")
    whole.check_source(open_source(copy), 3)  # annotated
    whole.check_source(open_source(pa.table({"age": [30, 31, 32]})), 3)
    StoredRelease(out, {}).check_source(source, 4)  # received: the number of rows is not known


def test_a_source_in_another_format_is_held_to_its_values(tmp_path):
    days = [dt.date(2020, 1, n) for n in (1, 2, 3)]
    table = pa.table(
        {"age": [30, 31, None], "cost": [1.5, 2.0, 3.25], "day": days, "who": [*"abc"]}
    )
    place, out = tmp_path / "people.csv", tmp_path / "out.csv"
    place.write_text(
        "age,cost,day,who\n30,1.50,2020-01-01,a\n031,2,2020-01-02,b\nNA,3.25,2020-01-03,c\n"
    )
    source = open_source(place)
    made_of = {
        "name": source.name,
        "sha256": source.fingerprint(),
        "columns": digest_columns(source),
    }
    release = StoredRelease(out, {}, {"counts": {"read": 3}, "source": made_of})
    pq.write_table(table, tmp_path / "people.parquet")
    release.check_source(open_source(tmp_path / "people.parquet"), 3)
    frame = table.to_pandas()  # a missing value makes the ages floats
    release.check_source(open_source(frame), 3)
    release.check_source(open_source(frame.assign(note="x").drop(columns="who")), 3)
    for name, values in {"age": [30, 31, 32], "cost": [1.5, 2.0, 3.0], "who": [*"acb"]}.items():
        with pytest.raises(RequestError, match=f"column {name} has other values"):
            release.check_source(open_source(frame.assign(**{name: values})), 3)


def test_digests_do_not_depend_on_batches():
    table = pa.table({"x": [f"{n}" * (n % 3) for n in range(200_000)]})
    whole, parts = (open_source(pa.Table.from_batches(table.to_batches(n))) for n in (None, 777))
    assert digest_columns(whole) == digest_columns(parts)
    assert digest_columns(whole) != digest_columns(open_source(table.slice(1)))


def test_what_is_no_release_is_refused(tmp_path):
    with pytest.raises(RequestError, match="no such release"):
        StoredRelease.open(tmp_path / "none.csv")
    out = written(tmp_path)
    manifest_path(out).unlink()
    with pytest.raises(RequestError, match="no manifest next to it"):
        StoredRelease.open(out)
    for text in (b"{", b"[]", b"{}"):
        manifest_path(out).write_bytes(text)
        with pytest.raises(TamperedError):
            StoredRelease.open(out)


def test_a_manifest_of_something_else_is_refused(tmp_path):
    with pytest.raises(DamagedError, match="not a release's manifest"):
        StoredRelease.open(written(tmp_path, format="voile-kit"))
    with pytest.raises(DamagedError, match="the manifest's figures is not one"):
        StoredRelease.open(written(tmp_path, figures=["loss"]))


@pytest.mark.parametrize("address", ["postgresql://db/clinic::visits", "service=clinic::visits"])
def test_a_table_in_a_database_is_known_by_its_file(address):
    with pytest.raises(RequestError, match=r"open visits\.postgresql"):
        StoredRelease.open(Path(address))


def test_a_newer_manifest_is_refused_and_one_without_a_version(tmp_path):
    with pytest.raises(RequestError, match="version 2"):
        StoredRelease.open(written(tmp_path, version=2))
    with pytest.raises(TamperedError, match="no version"):
        StoredRelease.open(written(tmp_path, version=None))


def test_a_manifest_that_lacks_a_part_is_refused(tmp_path):
    out = written(tmp_path)
    private_path(out).mkdir(mode=0o700)
    (private_path(out) / "manifest.json").write_bytes(encode(HEAD))
    with pytest.raises(TamperedError, match="lacks chosen, counts, figures, sha256"):
        StoredRelease.open(out)
    manifest_path(out).write_bytes(encode(HEAD))
    with pytest.raises(TamperedError, match="lacks figures, kind, sha256"):
        StoredRelease.open(out)


def test_the_same_manifest_has_the_same_bytes(tmp_path):
    assert encode({"b": 1, "a": "é"}) == encode({"a": "é", "b": 1})
    assert json.loads(encode({"a": "é"})) == {"a": "é"}
    assert "é" in encode({"a": "é"}).decode(), "a person reads it"
    (tmp_path / "x").write_bytes(b"abc")
    assert file_sha256(tmp_path / "x") == hashlib.sha256(b"abc").hexdigest()
